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

// TestRecordsPeak: as many of the smallest legal records of each kind as a compressed section may
// have take no more memory than the size of the file allows, 64 MiB and 20 times the file, and end
// soon. Some took gigabytes, and units of length 0 did not end.
func TestRecordsPeak(t *testing.T) {
	if testing.Short() {
		t.Skip("memory is measured with the program as it is built")
	}
	program := programtest.Build(t, "dump_syms")
	for _, name := range mutant.RecordKinds() {
		for _, how := range []string{", compressed by zstd", ", compressed by zlib"} {
			if how == ", compressed by zlib" && !strings.HasPrefix(name, "empty names") {
				continue // the library for zlib takes longer to make the file than the program to read it
			}
			data := mutant.Named(name + how)
			path := filepath.Join(t.TempDir(), "bomb")
			programtest.Write(t, path, data)
			if err := testfile.ForgetPeak(); err != nil {
				t.Fatal(err) // the peak of this process would count
			}

			cmd := exec.Command(program, "--inlines", "-o", os.DevNull, path)
			cmd.Env = append(os.Environ(), "GOMAXPROCS=2", "DEBUGINFOD_URLS=")
			out, err := cmd.CombinedOutput()
			if err != nil && cmd.ProcessState.ExitCode() != 1 {
				t.Errorf("%s: %v: %.1000s", name, err, out)
			}
			peak := int64(cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss) << 10
			if most := 64<<20 + 20*int64(len(data)); peak > most {
				t.Errorf("%s%s, %d bytes: %d MiB, want %d: %.300s", name, how, len(data), peak>>20, most>>20, out)
			}
			if cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(); cpu.Seconds() > 10 {
				t.Errorf("%s%s: %v of CPU time", name, how, cpu)
			}
			t.Logf("%s%s, %d bytes: %d MiB", name, how, len(data), peak>>20)
		}
	}
}
