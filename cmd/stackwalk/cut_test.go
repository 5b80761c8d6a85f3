package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"symkit/cfi"
	"symkit/elfx"
	"symkit/test/testfile"
	"symkit/walk"
	"symkit/walk/corefile"
	"symkit/walk/symbols/elfsyms"
	"symkit/walk/symbols/sources"
)

// A dump can lack any part of a stack: Breakpad's and Crashpad's writers bound the size of stacks,
// core files are cut when the disk is full, and pages are lost. Frames of the whole stack may then
// be missing, and no other frames may be in their place.

// lossy is memory without some ranges.
type lossy struct {
	walk.Memory
	lost []elfx.Range
}

// Bytes implements walk.Memory.
func (m *lossy) Bytes(addr, n uint64) []byte {
	for _, r := range m.lost {
		if addr < r.Hi && r.Lo < addr+n {
			return nil
		}
	}
	return m.Memory.Bytes(addr, n)
}

// keptSymbols makes the symbols of each module once for many walks.
type keptSymbols struct {
	walk.Supplier
	mu    sync.Mutex
	found map[*walk.Module]*walk.Symbols
}

// Symbols implements walk.Supplier.
func (k *keptSymbols) Symbols(ctx context.Context, m *walk.Module) *walk.Symbols {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.found == nil {
		k.found = map[*walk.Module]*walk.Symbols{}
	}
	if k.found[m] == nil {
		k.found[m] = k.Supplier.Symbols(ctx, m)
	}
	syms := *k.found[m]
	syms.Close, syms.Shared = nil, true
	return &syms
}

// losses are the kinds of loss of a part of a stack that goes from sp to end.
var losses = []struct {
	name string
	lose func(sp, at, end uint64) elfx.Range
}{
	{"cut", func(_, at, end uint64) elfx.Range { return elfx.Range{Lo: at, Hi: end} }},
	{"a hole", func(_, at, _ uint64) elfx.Range { return elfx.Range{Lo: at, Hi: at + 128} }},
	{"a page", func(_, at, _ uint64) elfx.Range { return elfx.Range{Lo: at &^ 4095, Hi: at&^4095 + 4096} }},
}

// cutStack walks a thread with parts of its stack lost, at most samples of each kind, and compares
// with its whole stack. It returns the number of walks.
func cutStack(t *testing.T, name string, p *walk.Process, thread int, s walk.Supplier, whole *walk.Stack, samples uint64) (walks int) {
	t.Helper()
	return cutStackWith(t, name, p, thread, s, samples, func(s *walk.Stack) string { return invented(s, whole) }, whole)
}

// cutStackWith is cutStack with a function that returns what is wrong with a stack.
func cutStackWith(t *testing.T, name string, p *walk.Process, thread int, s walk.Supplier, samples uint64, wrong func(*walk.Stack) string, whole *walk.Stack) (walks int) {
	t.Helper()
	const mostStack = 16 << 20 // of a frame, and of a stack whose mapping is not known
	arch := cfi.ArchByName(p.CPU)
	word := uint64(arch.WordSize)
	sp := whole.Frames[0].SP
	last := whole.Frames[min(len(whole.Frames), 400)-1].SP + 64*word
	if last <= sp || last-sp > mostStack {
		return 0 // other stacks follow: signals, coroutines
	}

	// The memory after the stack is not lost: it may have a trampoline.
	end := sp + mostStack
	if m := p.MappingAt(sp); m != nil {
		end = m.End
	}

	memory := p.Memory
	defer func() { p.Memory = memory }()
	seen := map[elfx.Range]bool{}
	steps := (last - sp) / word
	for _, loss := range losses {
		for i := range min(steps, samples) {
			lost := loss.lose(sp, sp+i*steps/min(steps, samples)*word, end)
			if seen[lost] {
				continue
			}
			seen[lost] = true
			p.Memory = &lossy{memory, []elfx.Range{lost}}
			res, err := walk.Walk(t.Context(), p, s, walk.Options{Threads: []int{thread}, Jobs: 1, MaxFrames: 1000})
			if err != nil {
				t.Fatal(err)
			}
			walks++
			if why := wrong(&res.Stacks[0]); why != "" {
				t.Errorf("%s, thread %d, %s from sp+%#x: %s\n%swhole:\n%s", name, p.Threads[thread].ID, loss.name, lost.Lo-sp, why,
					trusts(&res.Stacks[0]), trusts(whole))
				return walks // the others would be like it
			}
		}
	}
	return walks
}

// invented returns what a stack of which parts are lost has and the whole stack has not.
func invented(s, whole *walk.Stack) string {
	k := 0
	for i := range s.Frames {
		for k < len(whole.Frames) && whole.Frames[k].PC != s.Frames[i].PC {
			k++
		}
		if k == len(whole.Frames) {
			return fmt.Sprintf("frame %d is invented", i)
		}
		k++
	}
	if s.Complete && (!whole.Complete || k != len(whole.Frames)) {
		return "it is complete"
	}
	return ""
}

// trusts lists frames with the techniques that found them.
func trusts(s *walk.Stack) string {
	var b strings.Builder
	for i := range s.Frames {
		f := &s.Frames[i]
		if i == 30 {
			b.WriteString("  ...\n")
			break
		}
		fmt.Fprintf(&b, "  %#x sp %#x %s: %v (%s)\n", f.PC, f.SP, f.Place.Func, f.Trust, f.Why)
	}
	return b.String() + "  end: " + s.End + "\n"
}

// TestCutStacks: the committed core files of seven machines.
func TestCutStacks(t *testing.T) {
	cores, err := filepath.Glob("../../test/soak/testdata/*.core.xz")
	if err != nil || len(cores) < 6 {
		t.Fatal(cores, err)
	}
	for _, path := range append(cores, "../../testdata/elf/crash-x86_64-gcc12-O2-dw5.core.xz") {
		path = strings.TrimSuffix(path, ".xz")
		data, err := testfile.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		core := filepath.Join(t.TempDir(), "core")
		err = os.WriteFile(core, data, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		if n := cutCore(t, strings.TrimSuffix(path, ".core")+".elf", core, 400); n < 40 {
			t.Errorf("%s: only %d walks", path, n)
		}
	}
}

// cutCore cuts the stacks of a core file's first threads, and returns the number of walks.
func cutCore(t *testing.T, exe, path string, samples uint64) (walks int) {
	t.Helper()
	core, files := coreOf(t, exe, path)
	return cutProcess(t, filepath.Base(filepath.Dir(path))+" of "+filepath.Base(exe), core.Process, &elfsyms.Supplier{Files: files}, samples)
}

// coreOf opens the core file of a program, until the test ends, with the ELF files that belong to it.
func coreOf(t *testing.T, exe, path string) (*corefile.Core, *sources.Files) {
	t.Helper()
	files := &sources.Files{Exe: exe}
	core, err := corefile.Open(path, corefile.Options{Files: files})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		core.Close()
		files.Close()
	})
	return core, files
}

// cutProcess cuts the stacks of a process's first threads, and returns the number of walks.
func cutProcess(t *testing.T, name string, p *walk.Process, s walk.Supplier, samples uint64) (walks int) {
	t.Helper()
	kept := &keptSymbols{Supplier: s}
	for i := range min(len(p.Threads), 4) {
		res, err := walk.Walk(t.Context(), p, kept, walk.Options{Threads: []int{i}, Jobs: 1, MaxFrames: 1000})
		if err != nil {
			t.Fatal(err)
		}
		walks += cutStack(t, name, p, i, kept, &res.Stacks[0], samples)
	}
	return walks
}
