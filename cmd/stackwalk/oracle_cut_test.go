//go:build oracle

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"symkit/walk/symbols"
	"symkit/walk/symbols/elfsyms"
)

// samplesOfCore is the number of places in which each stack of a core has a loss of each kind.
const samplesOfCore = 24

// TestOracleCutStacks: the cores of scripts/cores.sh, whose whole stacks TestOracleCores compares
// with other programs, and their minidumps.
func TestOracleCutStacks(t *testing.T) {
	paths, dirs := corePaths(t, cores(t))
	if len(dirs) < 100 {
		t.Errorf("only %d cores", len(dirs))
	}
	for i, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			exe := filepath.Join(dir, "prog")
			cutCore(t, exe, paths[i], samplesOfCore)
			if !strings.HasPrefix(filepath.Base(dir), "s390x-") { // minidumps have no registers of s390x
				cutMinidump(t, exe, paths[i])
			}
		})
	}
}

// cutMinidump cuts the stacks in the minidump of a core.
func cutMinidump(t *testing.T, exe, core string) {
	t.Helper()
	dmp := filepath.Join(t.TempDir(), "dmp")
	streamed(t, core, "--exe", exe, "--max-frames=1000", "--brief", "--minidump", dmp, "-")
	data, err := os.ReadFile(dmp)
	if err != nil {
		t.Fatal(err)
	}
	files := &symbols.Files{Exe: exe}
	defer files.Close()
	p, err := decode(dmp, data, files, true)
	if err != nil {
		t.Fatal(err)
	}
	cutProcess(t, "minidump of "+exe, p, &elfsyms.Supplier{Files: files}, samplesOfCore)
}
