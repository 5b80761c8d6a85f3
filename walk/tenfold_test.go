package walk

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"symkit/cfi"
	"symkit/internal/limitof"
	"symkit/limits"
)

// A limit may only stop work that is done, so what real dumps have must never meet one. The cases have
// ten times the largest number of any dump of testdata, of Breakpad and rust-minidump, and of the
// cores of scripts/cores.sh.

// recursion is a stack of n frames of one function, each of 8 bytes, below _start.
func recursion(n int) span {
	stack := slices.Repeat([]uint64{0x401050}, n-2)
	return words(0x8000, 8, append(stack, 0x401350)...)
}

const recursionRules = `STACK CFI INIT 1000 100 .cfa: $rsp 8 + .ra: .cfa -8 + ^
STACK CFI INIT 1300 100 .cfa: $rsp 8 + .ra: 1
`

// TestTenfoldFrames: a core of 301 threads has 14,855 frames.
func TestTenfoldFrames(t *testing.T) {
	const threads, frames = 301, 14_855
	one := process("x86_64", regsOf(0x401050, map[cfi.Reg]uint64{7: 0x8000}), recursion(10*frames))
	many := process("x86_64", Registers{}, recursion(frames/threads))
	many.Threads = slices.Repeat([]Thread{{ID: 1, Regs: regsOf(0x401050, map[cfi.Reg]uint64{7: 0x8000})}}, 10*threads)
	for _, test := range []struct {
		p      *Process
		frames int // of each thread
	}{{one, 10 * frames}, {many, frames / threads}} {
		res, err := Walk(context.Background(), test.p, fixed(symbolsText+recursionRules), Options{})
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range res.Stacks {
			if len(s.Frames) != test.frames || !s.Complete {
				t.Fatalf("thread %d of %d: %d frames, complete: %v; want %d", i, len(res.Stacks), len(s.Frames), s.Complete, test.frames)
			}
		}
	}

	// The bomb: a function that calls itself for ever.
	loop := "STACK CFI INIT 1000 100 .cfa: $rsp 8 + .ra: 4198481\n"
	res, err := Walk(context.Background(), one, fixed(symbolsText+loop), Options{})
	if err != nil || len(res.Stacks[0].Frames) != (limits.Limits{}).Int(limitof.FramesPerThread) || res.Stacks[0].Complete {
		t.Errorf("a stack without an end: %d frames, %v", len(res.Stacks[0].Frames), err)
	}
}

// TestTenfoldScans: 51 frames of linux_inline.dmp are found by a scan.
func TestTenfoldScans(t *testing.T) {
	const scans = 10 * 51
	for _, test := range []struct{ frames, want int }{{scans, scans}, {4 * maxScanned, maxScanned}} {
		stack := slices.Repeat([]uint64{1, 0x401250}, test.frames)
		p := process("x86_64", regsOf(0x401250, map[cfi.Reg]uint64{7: 0x8000}), words(0x8000, 8, stack...))
		res, err := Walk(context.Background(), p, fixed(symbolsText), Options{})
		if err != nil || len(res.Stacks[0].Frames) != test.want+1 {
			t.Errorf("%d frames, %v, want %d", len(res.Stacks[0].Frames), err, test.want+1)
		}
	}
}

// TestTenfoldCalls: 47 inlined calls are in each other in a file of the corpus.
func TestTenfoldCalls(t *testing.T) {
	const depth = 10 * 47
	var b strings.Builder
	b.WriteString(symbolsText)
	for i := range depth {
		fmt.Fprintf(&b, "INLINE_ORIGIN %d call%d\n", i, i)
	}
	b.WriteString("FUNC 1500 100 0 deep\n")
	for i := range depth {
		fmt.Fprintf(&b, "INLINE %d 1 0 %d 1500 100\n", i, i)
	}
	p := process("x86_64", regsOf(0x401550, map[cfi.Reg]uint64{7: 0x8000}))
	res, err := Walk(context.Background(), p, fixed(b.String()), Options{})
	if err != nil {
		t.Fatal(err)
	}
	f := res.Stacks[0].Frames[0]
	if len(f.Place.Inlines) != depth || f.Place.Func != "deep" {
		t.Errorf("%d inlined calls in %s, want %d", len(f.Place.Inlines), f.Place.Func, depth)
	}
}
