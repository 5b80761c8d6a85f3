package dumpfile

import (
	"runtime"
	"testing"
)

// TestProcessors: a minidump that is written has the number of processors of the machine on which
// the process ran, unless that is surely another machine.
func TestProcessors(t *testing.T) {
	for _, cpu := range []string{"x86_64", "arm64", "mips"} {
		runs := map[string]string{"amd64": "x86_64", "arm64": "arm64"}[runtime.GOARCH] == cpu
		if n := processors(cpu); runs && n != runtime.NumCPU() || !runs && n != 0 && cpu != runtime.GOARCH {
			t.Errorf("%s: %d", cpu, n)
		}
	}
}
