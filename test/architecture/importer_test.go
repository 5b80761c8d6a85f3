package architecture

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"symkit/test/testfile"
)

var update = flag.Bool("update", false, "write the output of testdata/importer again")

// TestImporter: a program of another module, which sees the public packages alone, builds
// without the network and writes what testdata/importer/output.txt has.
func TestImporter(t *testing.T) {
	t.Chdir(top)
	data, err := testfile.Read("testdata/elf/crash-x86_64-gcc12-O2-dw5.core.xz")
	if err != nil {
		t.Fatal(err)
	}
	core := filepath.Join(t.TempDir(), "core")
	err = os.WriteFile(core, data, 0o600)
	if err != nil {
		t.Fatal(err)
	}

	// go.mod and go.sum have to be complete: nothing is downloaded, nothing is added.
	cmd := exec.Command("go", "run", ".", core)
	cmd.Dir = filepath.Join("testdata", "importer")
	cmd.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=-mod=readonly", "GOWORK=off")
	var messages bytes.Buffer
	cmd.Stderr = &messages
	got, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s\nAfter a change of go.mod, run go mod tidy in testdata/importer.", err, &messages)
	}

	golden := filepath.Join(cmd.Dir, "output.txt")
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s, want\n%s", got, want)
	}
}
