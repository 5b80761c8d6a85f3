package cluster

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestStoreCheck: symcheck --store finds in a bucket, which needs several answers to be listed, what it finds in a
// directory with the same files: symbol files that are packed, compared with ELF files that are packed, and damaged ones.
func TestStoreCheck(t *testing.T) {
	g := start(t)
	dir := filepath.Join(t.TempDir(), "sym")
	address := "s3://" + bucket + "/sym"
	for _, where := range []string{dir, address} {
		for _, layout := range []string{"breakpad", "unified"} {
			args := []string{"--inlines", "-s", where, "--compress", "gzip", "--layout", layout, "../../testdata/elf/cxx-x86_64-gcc12-O2-dw5.elf"}
			if layout == "unified" {
				args = append(args, "--with-elf")
			}
			out, err := dump(t, g.env(), args...)
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
		}
	}
	const id = "0123456789ABCDEF0123456789ABCDEF0"
	for i := range 1200 {
		name := fmt.Sprintf("lib%04d.so", i)
		text := "MODULE Linux x86_64 " + id + " " + name + "\nFUNC 1000 10 0 f\n"
		switch i % 100 {
		case 3:
			text += "FUNC 1008 10 0 g\n"
		case 5:
			text = "\x1f\x8b\x08damaged"
		}
		key := name + "/" + id + "/" + name + ".sym"
		path := filepath.Join(dir, key)
		err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(text), 0o666))
		if err != nil {
			t.Fatal(err)
		}
		g.put(t, "sym/"+key, []byte(text))
	}

	texts := map[string]string{}
	for _, where := range []string{dir, address} {
		cmd := exec.Command(filepath.Join(programs(t), "symcheck"), "--store", where)
		cmd.Env = g.env()
		out, err := cmd.Output()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(string(exit.Stderr), "12 of 1,202 symbol files could not be checked") {
			t.Fatalf("%s: %v: %s", where, err, exit.Stderr)
		}
		// Objects have no ending for gzip.
		texts[where] = strings.ReplaceAll(strings.ReplaceAll(string(out), where, "STORE"), ".sym.gz", ".sym")
	}
	if texts[dir] != texts[address] || !strings.Contains(texts[dir], "1,202 symbol files, 2 compared with ELF files: 12 findings in 12 files, 12 could not be checked") {
		t.Errorf("%s: %s\n%s: %s", dir, texts[dir], address, texts[address])
	}

	// A list of modules is enough.
	list := filepath.Join(t.TempDir(), "list")
	err := os.WriteFile(list, []byte("lib0000.so "+id+"\nlib0003.so/"+id+"\n"), 0o666)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(programs(t), "symcheck"), "--store", address, "--modules", list)
	cmd.Env = g.env()
	out, _ := cmd.Output()
	if cmd.ProcessState.ExitCode() != 2 || !strings.Contains(string(out), "2 symbol files, 0 compared with ELF files: 1 finding in 1 file") {
		t.Errorf("%v: %s", cmd.ProcessState, out)
	}
}
