//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"symkit/test/programtest"
	"symkit/test/testfile"
)

// TestSignalled checks that the first signal ends the program where it waits for the writer of a
// FIFO.
func TestSignalled(t *testing.T) {
	for _, signal := range []os.Signal{syscall.SIGTERM, syscall.SIGINT} {
		fifo := testfile.FIFO(t)
		for _, args := range [][]string{{fifo, "a.elf"}, {"lint", fifo}, {"diff", fifo, fifo}} {
			testfile.Interrupt(t, signal, nil, func() *exec.Cmd { return exec.Command("symcheck", args...) })
		}
	}
}

// TestOutputIsInput checks that a report is not written into a file that is read.
func TestOutputIsInput(t *testing.T) {
	const text = "MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF0 a\nPUBLIC 10 0 f\n"
	sym := filepath.Join(t.TempDir(), "a.sym")
	programtest.Write(t, sym, []byte(text))
	for _, args := range [][]string{{sym, "a.elf"}, {"lint", sym}, {"diff", "b.sym", sym}} {
		out, err := os.OpenFile(sym, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("symcheck", args...)
		cmd.Stdout = out
		_ = cmd.Run()
		out.Close()
		got, err := os.ReadFile(sym)
		if code := cmd.ProcessState.ExitCode(); code != 1 || string(got) != text {
			t.Errorf("%v: exit code %d, the file: %q, %v", args, code, got, err)
		}
	}
}

// TestClosedOutput checks that a report that cannot be written is an error.
func TestClosedOutput(t *testing.T) {
	sym := filepath.Join(t.TempDir(), "a.sym")
	programtest.Write(t, sym, []byte("MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF0 a\nPUBLIC 10 0 f\n"))
	programtest.Shell(t, map[string]int{
		`symcheck lint "$0" >&-`: 1, `symcheck --format=json lint "$0" >&-`: 1, `symcheck lint "$0" >/dev/null`: 0,
	}, sym)
}
