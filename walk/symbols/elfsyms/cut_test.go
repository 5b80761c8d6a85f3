package elfsyms

import (
	"testing"

	"symkit/test/testfile"
	"symkit/walk"
	"symkit/walk/corefile"
	"symkit/walk/symbols/sources"
)

// holed is memory that lacks the bytes from lo to hi.
type holed struct {
	walk.Memory
	lo, hi uint64
}

func (m holed) Bytes(addr, n uint64) []byte {
	if addr < m.hi && m.lo < addr+n {
		return nil
	}
	return m.Memory.Bytes(addr, n)
}

// TestCutStack: a stack that is cut at any word, as size limits of Breakpad and Crashpad, microdumps
// and truncated cores cut it, and a stack that lacks any 64 bytes, has frames of the whole stack and
// no others: where the return address is lost, the variables of its frame are no frames.
func TestCutStack(t *testing.T) {
	const exe = "../../../testdata/elf/crash-x86_64-gcc12-O2-dw5.elf"
	data, err := testfile.Read("../../../testdata/elf/crash-x86_64-gcc12-O2-dw5.core.xz")
	if err != nil {
		t.Fatal(err)
	}
	files := &sources.Files{Exe: exe}
	defer files.Close()
	core, err := corefile.New("core", data, corefile.Options{Files: files})
	if err != nil {
		t.Fatal(err)
	}
	shared := sources.NewShared(&Supplier{Files: files}, 1<<30)
	defer shared.Close()

	type place struct{ pc, sp uint64 }
	frames := func(m walk.Memory) (out []place, all *walk.Stack) {
		p := *core.Process
		p.Memory = m
		res, err := walk.Walk(t.Context(), &p, shared, walk.Options{Threads: []int{p.Crashed}})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range res.Stacks[0].Frames {
			out = append(out, place{f.PC, f.SP})
		}
		return out, &res.Stacks[0]
	}

	whole, stack := frames(core.Process.Memory)
	if !stack.Complete || len(whole) < 5 {
		t.Fatalf("%d frames, complete %v", len(whole), stack.Complete)
	}
	real := map[place]bool{}
	for _, f := range whole {
		real[f] = true
	}
	check := func(what string, at uint64, m walk.Memory) (n int) {
		got, s := frames(m)
		for i, f := range got {
			if !real[f] {
				t.Fatalf("%s at %#x: frame %d, %#x %s, is none of the stack (%s)", what, at, i, f.pc, s.Frames[i].Place.Func, s.Frames[i].Trust)
			}
		}
		if s.Complete != (got[len(got)-1] == whole[len(whole)-1]) {
			t.Fatalf("%s at %#x: complete: %v after %d frames of %d", what, at, s.Complete, len(got), len(whole))
		}
		return len(got)
	}

	// The kernel has the frame of the signal below the frame that it interrupted.
	counts := map[int]bool{}
	for at := whole[0].sp; at < whole[len(whole)-1].sp+64; at += 8 {
		counts[check("cut", at, holed{core.Process.Memory, at, ^uint64(0)})] = true
		check("hole", at, holed{core.Process.Memory, at, at + 64})
	}
	if len(counts) != len(whole) {
		t.Errorf("cuts leave %d numbers of frames, want each of %d", len(counts), len(whole))
	}
}
