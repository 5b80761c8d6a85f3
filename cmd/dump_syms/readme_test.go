//go:build unix

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"symkit/test/programtest"

	"github.com/google/go-cmp/cmp"
)

// consoles matches the examples in README.md: commands after "$ ", each with what it
// writes.
var consoles = regexp.MustCompile("(?ms)^```console\n(.*?)^```$")

// TestReadme runs the examples of README.md; with -update it writes down what they
// print. gcc is not run: hello is a fixture that was made as the example says.
func TestReadme(t *testing.T) {
	path, err := filepath.Abs(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(filepath.Join("..", "..", "testdata", "src", "hello.c"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	files := map[string][]byte{"hello.c": source}
	for to, from := range map[string]string{
		"hello": "hello-x86_64-gcc12-O2-dw5.elf", "build/app": "cxx-x86_64-gcc12-O2-dw5.elf", "build/tool": "lang-x86_64-gcc12-O2-dw5.elf",
		"build/lib/libshop.so": "cxx-x86_64-gcc12-O2-dw5.so",
	} {
		if files[to], err = fixture(from); err != nil {
			t.Fatal(err)
		}
	}
	lib := files["build/lib/libshop.so"]
	files["build/half.so"] = lib[:len(lib)/2]
	for name, data := range files {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		programtest.Write(t, name, data)
	}

	examples := 0
	got := consoles.ReplaceAllFunc(text, func(block []byte) []byte {
		examples++
		var out bytes.Buffer
		out.WriteString("```console\n")
		for line := range strings.Lines(string(consoles.FindSubmatch(block)[1])) {
			command, ok := strings.CutPrefix(line, "$ ")
			if !ok {
				continue
			}
			out.WriteString(line)
			if strings.HasPrefix(command, "gcc ") {
				continue
			}
			sh := exec.Command("sh", "-c", command)
			sh.Dir, sh.Env = dir, append(os.Environ(), "LC_ALL=C", "DEBUGINFOD_URLS=")
			sh.Stdout, sh.Stderr = &out, &out
			_ = sh.Run() // the examples show failures, too
		}
		out.WriteString("```")
		return out.Bytes()
	})
	if examples < 2 {
		t.Errorf("%d examples", examples)
	}
	if bytes.Equal(got, text) {
		return
	}
	if !*update {
		t.Fatalf("README.md shows other output than the programs write; see go test -update:\n%s", cmp.Diff(string(text), string(got)))
	}
	programtest.Write(t, path, got)
}
