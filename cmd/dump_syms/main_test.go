package main

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"

	"symkit/internal/command"
	"symkit/internal/testfile"
)

var update = flag.Bool("update", false, "rewrite what the scripts compare with")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"dump_syms": main})
}

// TestScripts runs the scripts of testdata/script. Their command `fixture NAME
// [AS]` puts a file of the repository's testdata/elf into the script's
// directory, unpacked.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: *update,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"fixture": func(ts *testscript.TestScript, _ bool, args []string) {
				data, err := fixture(args[0])
				ts.Check(err)
				ts.Check(os.WriteFile(ts.MkAbs(args[len(args)-1]), data, 0o755))
			},
			// same FILE FILE: equal but for the code id, which no flag sets.
			"same": func(ts *testscript.TestScript, _ bool, args []string) {
				a, b := ts.ReadFile(args[0]), ts.ReadFile(args[1])
				if codeID.ReplaceAllString(a, "") != codeID.ReplaceAllString(b, "") {
					ts.Fatalf("%s and %s differ:\n%s", args[0], args[1], cmp.Diff(a, b))
				}
			},
		},
	})
}

var codeID = regexp.MustCompile(`(?m)^INFO CODE_ID .*\n`)

// fixture returns a file of testdata/elf.
func fixture(name string) ([]byte, error) {
	dir := filepath.Join("..", "..", "testdata", "elf")
	if wd := os.Getenv("FIXTURES"); wd != "" {
		dir = wd
	}
	return testfile.Read(filepath.Join(dir, name))
}

// TestTruncatedHeaders cuts a program at every byte of its ELF, program and
// section headers.
func TestTruncatedHeaders(t *testing.T) {
	whole, err := fixture("cxx-x86_64-gcc12-O2-dw5.so")
	if err != nil {
		t.Fatal(err)
	}
	const programHeaders, sectionHeaders = 64 + 20*56, 64 * 64
	located := regexp.MustCompile(`^dump_syms: error: [^\n]*cut\.elf: [a-zA-Z .]+\+0x[0-9a-f]+: [^\n]+\n$`)
	path := filepath.Join(t.TempDir(), "cut.elf")
	for n := range len(whole) {
		if n > programHeaders && n < len(whole)-sectionHeaders {
			continue
		}
		if err := os.WriteFile(path, whole[:n], 0o644); err != nil {
			t.Fatal(err)
		}
		var stdout, stderr bytes.Buffer
		code := run(context.Background(), []string{path}, &stdout, &stderr)
		if code != command.Failed || stdout.Len() > 0 || !located.Match(stderr.Bytes()) {
			t.Fatalf("cut at %d of %d: exit code %d, %d bytes on stdout, stderr %q",
				n, len(whole), code, stdout.Len(), stderr.String())
		}
	}
}
