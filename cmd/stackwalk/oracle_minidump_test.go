//go:build oracle

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// crashdumps is where scripts/crashdumps.sh has put the dumps of a project. The
// test is skipped where it could not fetch them.
func crashdumps(t *testing.T, project string) string {
	t.Helper()
	dir := filepath.Join(os.Getenv("SYMKIT_CRASHDUMPS"), project)
	if _, err := os.Stat(filepath.Join(dir, ".commit")); err == nil {
		return dir
	}
	why, err := os.ReadFile(filepath.Join(dir, "SKIPPED"))
	if err != nil {
		t.Fatalf("run scripts/crashdumps.sh, and set SYMKIT_CRASHDUMPS to where it fetches to: %v", err)
	}
	t.Skipf("%s: %s", project, why)
	return ""
}

// TestOracleBreakpad: the reports on all dumps of both projects are what
// Breakpad's tool says, testdata/breakpad/machine.txt: system, crash and modules
// without exception, frames but for what docs/differences.md lists.
func TestOracleBreakpad(t *testing.T) {
	root := filepath.Dir(crashdumps(t, "breakpad"))
	crashdumps(t, "rust-minidump")
	var diffs []string
	compared := 0
	for section := range strings.SplitSeq(expected(t, "machine.txt"), "== ") {
		file, want, _ := strings.Cut(section, "\n")
		wantHead, want, ok := strings.Cut(want, "\n\n")
		if !ok {
			continue // Breakpad cannot read it
		}
		got := output(t, "-m", "--no-elf", filepath.Join(root, file),
			filepath.Join(root, "breakpad/src/processor/testdata/symbols"), filepath.Join(root, "rust-minidump/testdata/symbols"))
		gotHead, got, _ := strings.Cut(got, "\n\n")
		if gotHead != wantHead {
			t.Errorf("%s:\n%s\nwant\n%s", file, gotHead, wantHead)
		}
		compared++
		if theirs, ours := onlyIn(want, got), onlyIn(got, want); theirs+ours > 0 {
			diffs = append(diffs, fmt.Sprintf("%s: %d of Breakpad's frames are not here, %d here are not Breakpad's", filepath.Base(file), theirs, ours))
		}
	}
	if compared < 50 {
		t.Errorf("only %d dumps", compared)
	}
	documented(t, "breakpad-frames", diffs)
}

// onlyIn counts the frames that b lacks; their numbers do not count.
func onlyIn(a, b string) (n int) {
	frame := func(line string) string {
		fields := strings.SplitN(line, "|", 3)
		return fields[0] + "|" + fields[2]
	}
	have := map[string]int{}
	for line := range strings.Lines(b) {
		have[frame(line)]++
	}
	for line := range strings.Lines(a) {
		if have[frame(line)]--; have[frame(line)] < 0 {
			n++
		}
	}
	return n
}

// TestOracleRustMinidump: the snapshots whose symbols are too large to be here.
func TestOracleRustMinidump(t *testing.T) {
	dir := crashdumps(t, "rust-minidump")
	for name, dump := range map[string]string{"macos_inlines_json_pretty": "pipeline-inlines-macos-segv", "json-pretty-symbols": "test"} {
		t.Run(name, func(t *testing.T) {
			compareSnapshot(t, name, filepath.Join(dir, "minidump-stackwalk/tests/snapshots/test_minidump_stackwalk__"+name+".snap"),
				filepath.Join(dir, "testdata", dump+".dmp"), filepath.Join(dir, "testdata", "symbols"))
		})
	}
}

// TestOracleMutatedDumps is TestMutations with thousands of dumps.
func TestOracleMutatedDumps(t *testing.T) {
	t.Setenv("SYMKIT_MUTATIONS", "10000")
	TestMutations(t)
}
