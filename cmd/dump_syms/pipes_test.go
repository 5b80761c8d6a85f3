//go:build unix

package main

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"symkit/test/mutant"
	"symkit/test/programtest"
)

// TestPipes: a parent that reads standard output and never standard error does not wait
// for ever, whatever the file is. TestOraclePipes does the same with a thousand files.
func TestPipes(t *testing.T) { damagedFiles(t, 24) }

// damagedFiles runs the program on n damaged files.
func damagedFiles(t *testing.T, n int) {
	var originals [][]byte
	for _, name := range []string{"cxx-x86_64-gcc12-O2-dw5.elf", "cxx-x86_64-clang14-O2-dw4-split.elf", "go-x86_64-gc.elf", "cxx-thumb-gcc12-O2-dw4.elf"} {
		data := programtest.Fixture(t, name)
		originals = append(originals, data)
	}

	dir, wrote := t.TempDir(), 0
	for i := range n {
		r := rand.New(rand.NewPCG(25, uint64(i)))
		data := originals[i%len(originals)]
		layout := mutant.Of(data)
		data, kind := layout.Mutate(data, r)
		// A file with many kinds of damage has the most messages.
		for range 1<<r.IntN(6) - 1 {
			data, _ = layout.Mutate(data, r)
		}

		path := filepath.Join(dir, fmt.Sprintf("%d-%s.elf", i, kind))
		programtest.Write(t, path, data)
		if stdout := unreadStderr(t, path); len(stdout) > 0 {
			wrote++
			if line := infoRecord(stdout); line != nil && !bytes.HasPrefix(line, []byte("INFO CODE_ID ")) {
				t.Errorf("%s: the first INFO record is %q", filepath.Base(path), line)
			}
		}
		os.Remove(path)
	}
	t.Logf("%d of %d files have symbols", wrote, n)
}

// infoRecord returns the first INFO record of a symbol file, or nil.
func infoRecord(text []byte) []byte {
	for line := range bytes.Lines(text) {
		if bytes.HasPrefix(line, []byte("INFO")) {
			return line
		}
	}
	return nil
}

// unreadStderr runs the program with both outputs as pipes, reads standard output to its
// end, waits, and only then looks at standard error.
func unreadStderr(t *testing.T, path string) (stdout []byte) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()

	cmd := exec.Command("dump_syms", path)
	cmd.Stderr = w
	cmd.Env = append(os.Environ(), "DUMP_SYMS_INLINES=1", "DEBUGINFOD_URLS=")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()

	// The program hangs if it has not ended long after it should have.
	late := time.AfterFunc(2*time.Minute, func() {
		t.Errorf("%s: the program did not end", path)
		cmd.Process.Kill()
	})
	defer late.Stop()
	stdout, err = io.ReadAll(out)
	if err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // a file without symbols is a failure

	stderr, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if len(stderr) > maxStderr {
		t.Errorf("%s: %d bytes of messages", path, len(stderr))
	}
	if bytes.Contains(stderr, []byte("goroutine ")) {
		t.Errorf("%s: %s", path, stderr)
	}
	return stdout
}
