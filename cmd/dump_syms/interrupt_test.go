//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"symkit/dump/batch"
	"symkit/test/programtest"
	"symkit/test/testfile"
)

// modules makes n programs that differ in their build ids, and returns their
// directory.
func modules(t *testing.T, n int) string {
	t.Helper()
	data := programtest.Fixture(t, "cxx-x86_64-gcc12-O2-dw5.elf")
	id := bytes.Index(data, []byte("GNU\x00\x8c\xb6\x93")) // of the note, and the first of the id
	if id < 0 {
		t.Fatal("the fixture has another build id")
	}
	dir := t.TempDir()
	for i := range n {
		copy(data[id+4:], fmt.Sprintf("%04d", i))
		programtest.Write(t, filepath.Join(dir, fmt.Sprintf("app%04d", i)), data)
	}
	return dir
}

// dumpAll returns the command that dumps the programs in dir into store.
func dumpAll(dir, store string, args ...string) *exec.Cmd {
	return exec.Command("dump_syms", append([]string{"-R", dir, "-s", store}, args...)...)
}

// whole runs a batch to its end and returns what is in the store then, and how
// long it took.
func whole(t *testing.T, dir, store string) (map[string]string, time.Duration) {
	t.Helper()
	start := time.Now()
	if out, err := dumpAll(dir, store).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	took := time.Since(start)
	contents, err := readTree(store)
	if err != nil {
		t.Fatal(err)
	}
	return contents, took
}

// killRuns runs a batch n times, kills each run at a random moment, and compares
// what is in the store with a whole run; a last run completes it.
func killRuns(t *testing.T, dir string, n int) {
	want, took := whole(t, dir, filepath.Join(t.TempDir(), "whole"))
	store := filepath.Join(t.TempDir(), "store")
	// A run of a busy machine can take longer than those after it: after runs that were not
	// killed, the moment comes earlier.
	killed := 0
	for run := 0; run < n || killed == 0 && took > time.Millisecond; run++ {
		if run >= n {
			took /= 2
		}
		cmd := dumpAll(dir, store, "--force")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(rand.N(took))
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		if cmd.Wait() != nil {
			killed++
		}
		if _, err := os.Stat(store); err != nil {
			continue // it had not begun
		}
		got, err := readTree(store)
		if err != nil {
			t.Fatal(err)
		}
		for path, text := range got {
			if text != want[path] && !temporary(path) {
				t.Errorf("%s: %d bytes, want %d", path, len(text), len(want[path]))
			}
		}
	}
	if killed == 0 {
		t.Errorf("none of %d runs was killed before its end", n)
	}
	got, _ := whole(t, dir, store)
	if cmp.Diff(want, got) != "" {
		t.Errorf("the run after the kills: %d files, want %d", len(got), len(want))
	}
}

// temporary reports whether path is the name of a file that is not complete.
func temporary(path string) bool { return strings.HasPrefix(filepath.Base(path), ".") }

func TestKilled(t *testing.T) { killRuns(t, modules(t, 60), 6) }

// TestInterrupted sends SIGTERM and SIGINT to a batch. A module that is half done
// is finished or left out, the manifest agrees with the store, and the last message
// says how to continue.
func TestInterrupted(t *testing.T) {
	dir := modules(t, 200)
	for _, signal := range []os.Signal{syscall.SIGTERM, syscall.SIGINT} {
		testfile.Patiently(t, 50*time.Millisecond, func(moment time.Duration) string {
			return interruptBatch(t, dir, signal, moment)
		})
	}
}

// interrupted is the last message of a batch of 200 modules that a signal ended.
var interrupted = regexp.MustCompile(`(?m)^dump_syms: error: interrupted: (\d+) of 200 modules are in the store, all of them whole; run the same command again to dump the rest$`)

// interruptBatch sends a signal to a batch in the middle, and lets it go on a moment later.
// It returns a complaint if the batch ended without an interruption.
func interruptBatch(t *testing.T, dir string, signal os.Signal, moment time.Duration) string {
	t.Helper()
	store := filepath.Join(t.TempDir(), "store")
	run := dumpAll(dir, store, "--manifest", "-")
	var stderr, manifest bytes.Buffer
	run.Stderr = &stderr
	stdout, err := run.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	// As long as the rest of the manifest is not read, the batch is stuck
	// in the middle: the pipe does not hold all of it.
	if _, err := io.CopyN(&manifest, stdout, 1000); err != nil {
		t.Fatal(err)
	}
	if err := run.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	time.Sleep(moment) // the process handles the signal
	if _, err := io.Copy(&manifest, stdout); err != nil {
		t.Fatal(err)
	}
	_ = run.Wait()
	m := interrupted.FindSubmatch(stderr.Bytes())
	if code := run.ProcessState.ExitCode(); code != 1 || m == nil {
		return fmt.Sprintf("%v: exit code %d, %s", signal, code, &stderr)
	}
	got, err := readTree(store)
	if err != nil {
		t.Fatal(err)
	}
	if n := fmt.Sprint(len(got)); n != string(m[1]) {
		t.Errorf("%v: %s modules in the store: %s", signal, n, m[0])
	}
	compareManifest(t, &manifest, got)
	want, _ := whole(t, dir, store)
	if len(want) != 200 {
		t.Errorf("%v: the next run: %d modules", signal, len(want))
	}
	for path := range got {
		if got[path] != want[path] || !strings.Contains(got[path], "STACK CFI") {
			t.Errorf("%v: %s is not whole", signal, path)
		}
	}
	return ""
}

// compareManifest wants the manifest to list the files as they were written.
func compareManifest(t *testing.T, manifest io.Reader, files map[string]string) {
	t.Helper()
	n := 0
	for lines := bufio.NewScanner(manifest); lines.Scan(); n++ {
		var r batch.Record
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatalf("%s: %v", lines.Bytes(), err)
		}
		if r.Status != batch.Written || len(r.Outputs) != 1 || int64(len(files[r.Outputs[0]])) != r.StoredBytes {
			t.Errorf("%s: the file has %d bytes", lines.Bytes(), len(files[r.Outputs[0]]))
		}
	}
	if n != len(files) {
		t.Errorf("%d lines, %d files", n, len(files))
	}
}

// TestInterruptedList: a signal ends a run that is blocked reading the list of files
// from its standard input.
func TestInterruptedList(t *testing.T) {
	run := exec.Command("dump_syms", "-s", filepath.Join(t.TempDir(), "store"), "--files-from", "-")
	stdin, err := run.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	var stderr bytes.Buffer
	run.Stderr = &stderr
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	// An error in the first line is reported only at the end, so that there is no
	// output to wait for. More than a pipe holds must have been read instead.
	if _, err := io.WriteString(stdin, strings.Repeat("\n", 1<<17)); err != nil {
		t.Fatal(err)
	}
	if err := run.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := run.Wait(); run.ProcessState.ExitCode() != 1 || !strings.Contains(stderr.String(), "interrupted") {
		t.Errorf("%v: %s", err, &stderr)
	}
}
