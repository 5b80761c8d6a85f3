//go:build linux && !race

package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"symkit/internal/mutant"
	"symkit/internal/programtest"
	"symkit/internal/testfile"
)

// TestCompressedPeak checks that a file in which a table that is read unasked inflates to a
// gigabyte, or in which each of thirty tables inflates to 16 MiB, is checked in less than 64 MiB.
// (The race detector takes more by itself.) The tables of 16 MiB took 331 MiB when each section had an allowance of its own.
func TestCompressedPeak(t *testing.T) {
	const most = 64 << 20
	sym := filepath.Join(t.TempDir(), "bomb.sym")
	const text = "MODULE Linux x86_64 626D6F626F62626D00000000000000000 bomb\nINFO CODE_ID 626F6D62626F6D62\nFUNC 1000 10 0 f\n"
	programtest.Write(t, sym, []byte(text))
	for _, name := range []string{
		".shstrtab of a gigabyte, compressed by zstd", "all tables of 16 MiB, compressed by zlib", "all tables of 16 MiB, compressed by zstd",
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "bomb")
			programtest.Write(t, file, mutant.Named(name))
			if err := testfile.ForgetPeak(); err != nil {
				t.Fatal(err) // the peak of this process would count
			}
			cmd := exec.Command("symcheck", sym, file)
			out, err := cmd.CombinedOutput()
			if err != nil && cmd.ProcessState.ExitCode() > 2 || strings.Contains(string(out), "panic") {
				t.Fatalf("%v: %s", err, out)
			}
			if peak := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10; peak > most {
				t.Errorf("%d MiB: %s", peak>>20, out)
			} else {
				t.Logf("%d MiB", peak>>20)
			}
		})
	}
}
