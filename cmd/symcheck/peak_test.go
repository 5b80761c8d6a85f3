//go:build linux && !race

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"symkit/test/mutant"
	"symkit/test/programtest"
	"symkit/test/testfile"
)

// TestCompressedPeak checks that a file in which a table that is read unasked inflates to a
// gigabyte, or in which each of thirty tables inflates to 16 MiB, is checked in less than 64 MiB.
// (The race detector takes more by itself.) The tables of 16 MiB took 331 MiB when each section had an allowance of its own.
func TestCompressedPeak(t *testing.T) {
	if testing.Short() {
		t.Skip("memory is measured with the program as it is built")
	}
	bombsStayBelow(t, func(int64) int64 { return 64 << 20 },
		".shstrtab of a gigabyte, compressed by zstd", "all tables of 16 MiB, compressed by zlib", "all tables of 16 MiB, compressed by zstd")
}

// TestRecordPeak: a record of a few bytes took hundreds of bytes in memory, and a file of 20 kB
// with 15 million empty names of files 1.7 GB: 64 MiB and 20 times the file are allowed.
func TestRecordPeak(t *testing.T) {
	if testing.Short() {
		t.Skip("memory is measured with the program as it is built")
	}
	allowed := func(size int64) int64 { return 64<<20 + 20*size }
	var names []string
	for _, kind := range []string{
		"empty names of files", "names of directories of one letter", "a row for each byte of a line program", "the smallest sequences",
		"the smallest functions", "the smallest inlined calls", "a function of the smallest ranges", "scopes without anything in them",
		"the smallest units", "the smallest abbreviations", "the smallest FDEs", "units of length 0", "SFrame sections of no functions, joined",
	} {
		names = append(names, kind+", compressed by zlib", kind+", compressed by zstd")
	}
	bombsStayBelow(t, allowed, names...)
}

// bombsStayBelow checks that symcheck takes no more memory for the bombs than is allowed for the size
// of each.
func bombsStayBelow(t *testing.T, allowed func(size int64) int64, names ...string) {
	t.Helper()
	sym := filepath.Join(t.TempDir(), "bomb.sym")
	const text = "MODULE Linux x86_64 626D6F626F62626D00000000000000000 bomb\nINFO CODE_ID 626F6D62626F6D62\nFUNC 1000 10 0 f\n"
	programtest.Write(t, sym, []byte(text))
	program := programtest.Build(t, "symcheck")
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			file, data := filepath.Join(t.TempDir(), "bomb"), mutant.Named(name)
			most := allowed(int64(len(data)))
			programtest.Write(t, file, data)
			if err := testfile.ForgetPeak(); err != nil {
				t.Fatal(err) // the peak of this process would count
			}
			cmd := exec.Command(program, sym, file)
			cmd.Env = append(os.Environ(), "GOMAXPROCS=2")
			out, err := cmd.CombinedOutput()
			if err != nil && cmd.ProcessState.ExitCode() > 2 || strings.Contains(string(out), "panic") {
				t.Fatalf("%v: %s", err, out)
			}
			if peak := int64(cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss) << 10; peak > most {
				t.Errorf("%d MiB: %s", peak>>20, out)
			} else {
				t.Logf("%d MiB of %d", peak>>20, most>>20)
			}
		})
	}
}
