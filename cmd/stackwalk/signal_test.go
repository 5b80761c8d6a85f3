//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"symkit/test/programtest"
	"symkit/test/testfile"
)

// TestSignalled: the first signal ends the program wherever it waits.
func TestSignalled(t *testing.T) {
	core, exe := crash(t)
	stalled, stalledAsked := testfile.StalledServer(t)
	endless, endlessAsked := testfile.EndlessServer(t, []byte("\x7fELF\x02\x01\x01"))
	symbols, symbolsAsked := testfile.EndlessServer(t, []byte("MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF0 crash\n"))
	for _, signal := range []os.Signal{syscall.SIGTERM, syscall.SIGINT} {
		for _, test := range []struct {
			name  string
			args  []string
			urls  string
			ready <-chan struct{}
		}{
			{name: "output", args: []string{"--exe", exe, "-o", testfile.FIFO(t)}},
			{name: "stalled debuginfod", urls: stalled, ready: stalledAsked},
			{name: "endless debuginfod", urls: endless, ready: endlessAsked},
			{name: "stalled symbol server", args: []string{"-s", stalled}, ready: stalledAsked},
			{name: "endless symbol server", args: []string{"-s", symbols}, ready: symbolsAsked},
			{name: "stalled symbol server, batch", args: []string{"-s", stalled, "--out", t.TempDir()}, ready: stalledAsked},
		} {
			t.Run(test.name+" "+signal.String(), func(t *testing.T) {
				cache := t.TempDir()
				testfile.Interrupt(t, signal, test.ready, func() *exec.Cmd {
					cmd := exec.Command("stackwalk", append(test.args, "--cache", filepath.Join(cache, "symbols"), core)...)
					cmd.Env = append(os.Environ(), "DEBUGINFOD_URLS="+test.urls, "DEBUGINFOD_CACHE_PATH="+cache)
					return cmd
				})
				programtest.NoFiles(t, cache)
			})
		}
	}
}

// TestFIFO: a pipe in place of a file is refused at once, by its name, so that no signal is needed.
func TestFIFO(t *testing.T) {
	core, exe := crash(t)
	fifo := testfile.FIFO(t)
	for _, args := range [][]string{
		{fifo}, {"--exe", exe, "--symbols", fifo, core}, {"--exe", exe, "--perf-map", fifo, core},
	} {
		cmd := exec.Command("stackwalk", args...)
		out, _ := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != 1 || strings.Count(string(out), fifo+": not a regular file") != 1 {
			t.Errorf("%v: exit code %d: %s", args, code, out)
		}
	}
}

// TestOutputIsInput: a result does not replace a file that is read.
func TestOutputIsInput(t *testing.T) {
	core, exe := crash(t)
	dir := t.TempDir()
	hard := filepath.Join(dir, "hard.txt")
	if err := os.Link(core, hard); err != nil {
		t.Fatal(err)
	}
	twin := filepath.Join(t.TempDir(), "hard")
	if err := os.Symlink(core, twin); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(core)
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"-o", core}, {"-o", hard}, {"-o", exe}, {"--out", dir, twin},
	} {
		cmd := exec.Command("stackwalk", slices.Concat([]string{"--exe", exe}, args, []string{core})...)
		out, _ := cmd.CombinedOutput()
		after, err := os.ReadFile(hard)
		if code := cmd.ProcessState.ExitCode(); code != 1 || string(after) != string(before) {
			t.Errorf("%v: exit code %d, %v: %s", args, code, err, out)
		}
	}
	if _, err := os.Stat(exe); err != nil {
		t.Error(err)
	}
}

// TestClosedOutput: a result that cannot be written is an error.
func TestClosedOutput(t *testing.T) {
	core, exe := crash(t)
	programtest.Shell(t, map[string]int{
		`stackwalk --exe "$1" "$0" >&-`: 1, `stackwalk --exe "$1" -m "$0" >&-`: 1, `stackwalk --exe "$1" "$0" >/dev/null`: 0,
		`stackwalk --exe "$1" -o "$0.txt" "$0" >&-`: 0,
	}, core, exe)
}
