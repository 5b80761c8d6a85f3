//go:build oracle

package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"symkit/walk"
	"symkit/walk/dumpfile"
	"symkit/walk/symbols/elfsyms"
	"symkit/walk/symbols/sources"
)

// samplesOfCore is the number of places in which each stack of a core has a loss of each kind.
const samplesOfCore = 24

// TestOracleCutStacks: the cores of scripts/cores.sh, whose whole stacks TestOracleCores compares
// with other programs, and their minidumps; the cores also without unwind rules, so that machine code,
// frame pointers and scans decide, and without each of their modules.
func TestOracleCutStacks(t *testing.T) {
	paths, dirs := corePaths(t, cores(t))
	if len(dirs) < 100 {
		t.Errorf("only %d cores", len(dirs))
	}
	for i, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			exe := filepath.Join(dir, "prog")
			cutCore(t, exe, paths[i], samplesOfCore)
			withoutParts(t, exe, paths[i])
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
	files := &sources.Files{Exe: exe}
	defer files.Close()
	d, err := dumpfile.Open(t.Context(), dmp, dumpfile.Options{Files: files})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	cutProcess(t, "minidump of "+exe, d.Process, &elfsyms.Supplier{Files: files}, samplesOfCore)
}

// withoutParts walks a core without unwind rules, its stacks cut, and without each module.
func withoutParts(t *testing.T, exe, path string) {
	t.Helper()
	core, files := coreOf(t, exe, path)
	p := core.Process
	kept, plain := &keptSymbols{Supplier: &elfsyms.Supplier{Files: files}}, &keptSymbols{Supplier: withoutRules{files}}
	for k := range min(len(p.Threads), 2) {
		stack := func(s walk.Supplier) *walk.Stack {
			res, err := walk.Walk(t.Context(), p, s, walk.Options{Threads: []int{k}, Jobs: 1, MaxFrames: 1000})
			if err != nil {
				t.Fatal(err)
			}
			return &res.Stacks[0]
		}
		whole, guessed := stack(kept), stack(plain)
		cutStackWith(t, exe+" without rules", p, k, plain, samplesOfCore, func(s *walk.Stack) string {
			if invented(s, whole) == "" {
				return ""
			}
			return inNeither(s, whole, guessed)
		}, guessed)

		all := p.Modules
		for n, m := range all {
			if !slices.ContainsFunc(whole.Frames, func(f walk.Frame) bool { return f.Module == m }) {
				continue
			}
			p.Modules = slices.Delete(slices.Clone(all), n, n+1)
			got := stack(kept)
			if why := guessedWrong(got, whole); why != "" {
				t.Errorf("%s without %s: %s\n%swhole:\n%s", exe, m.Name, why, trusts(got), trusts(whole))
			}
		}
		p.Modules = all
	}
}

// inNeither returns the frame of s that is in neither of two whole stacks.
func inNeither(s, a, b *walk.Stack) string {
	for i := range s.Frames {
		same := func(f walk.Frame) bool { return f.PC == s.Frames[i].PC }
		if !slices.ContainsFunc(a.Frames, same) && !slices.ContainsFunc(b.Frames, same) {
			return fmt.Sprintf("frame %d is invented", i)
		}
	}
	return ""
}

// guessedWrong returns a frame that is not in the whole stack and that does not say that it is a guess: it
// is not found by scanning nor by the link register, which may be left from an earlier call, and no such
// frame is before it.
func guessedWrong(s, whole *walk.Stack) string {
	k, guess := 0, false
	for i := range s.Frames {
		f := &s.Frames[i]
		guess = guess || f.Trust == walk.TrustScan || f.Trust == walk.TrustCFIScan || f.Trust == walk.TrustLeaf
		n := slices.IndexFunc(whole.Frames[k:], func(w walk.Frame) bool { return w.PC == f.PC })
		switch {
		case n >= 0:
			k += n + 1
		case guess:
			return ""
		default:
			return fmt.Sprintf("frame %d is invented", i)
		}
	}
	if s.Complete && !(whole.Complete && k == len(whole.Frames)) {
		return "it is complete"
	}
	return ""
}
