package lookup_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"symkit/emit"
	"symkit/lookup"
)

// symbolFile returns a file of a symbol file's text.
func symbolFile(text []byte, opt lookup.Options) *lookup.File {
	return lookup.FromIndex("app", nil, emit.NewIndex(text), 0, opt, func() {})
}

// sameAsIndex compares the frames of an address with what the index says, which reads the records anew.
func sameAsIndex(t *testing.T, f *lookup.File, x *emit.Index, addr uint64) {
	t.Helper()
	frames, err := f.Frames(nil, addr)
	if err != nil {
		t.Fatal(err)
	}
	var got, want []string
	for i, c := range frames {
		got = append(got, fmt.Sprintf("%s %s:%d %x+%x", c.Name, c.File, c.Line, c.Start, c.Size))
		if c.Inlined != (i < len(frames)-1) {
			t.Fatalf("%#x: frame %d of %d: inlined %v", addr, i, len(frames), c.Inlined)
		}
	}
	s, ok := x.Symbol(addr)
	if ok && !s.After {
		for i, c := range s.Calls {
			start, size := uint64(0), uint32(0)
			if i == len(s.Calls)-1 {
				start, size = s.Addr, s.Size
			}
			want = append(want, fmt.Sprintf("%s %s:%d %x+%x", c.Func, c.File, c.Line, start, size))
		}
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Fatalf("%#x:\n%q, want\n%q", addr, got, want)
	}
}

// TestFunctions: functions that are kept give the answers of the index, in whatever order addresses come, and with
// memory for a few of them.
func TestFunctions(t *testing.T) {
	paths, err := filepath.Glob("../emit/testdata/*.sym")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		x := emit.NewIndex(text)
		for _, memory := range []int64{0, 1 << 12} {
			f := symbolFile(text, lookup.Options{Memory: memory})
			random := rand.New(rand.NewPCG(1, uint64(memory)))
			var starts []uint64
			for rec, err := range emit.NewReader(text).Records() {
				if err != nil {
					break
				}
				fn, ok := rec.(*emit.Func)
				if ok {
					starts = append(starts, fn.Addr)
				}
			}
			if len(starts) == 0 {
				t.Fatalf("%s has no functions", path)
			}
			for range 4000 {
				sameAsIndex(t, f, x, starts[random.IntN(len(starts))]+random.Uint64N(200))
			}
			most := x.HeapSize() + 4*memory
			if memory > 0 && f.Memory() > most+1<<16 {
				t.Errorf("%s: %d bytes, allowed are %d", path, f.Memory(), memory)
			}
			f.Close()
		}
	}
}

// TestWarmSymbolFile: an address in a function that was read costs no memory.
func TestWarmSymbolFile(t *testing.T) {
	f := symbolFile([]byte("FILE 0 a.c\nINLINE_ORIGIN 0 in\nFUNC 10 20 0 f\nINLINE 0 7 0 0 12 4\n10 20 5 0\n"), lookup.Options{})
	defer f.Close()
	frames, err := f.Frames(nil, 0x12)
	if err != nil || len(frames) != 2 {
		t.Fatal(frames, err)
	}
	n := testing.AllocsPerRun(100, func() { frames, _ = f.Frames(frames[:0], 0x12) })
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzSymbolFile: whatever the text, functions that are kept give the answers of the index.
func FuzzSymbolFile(f *testing.F) {
	f.Add([]byte("FILE 0 a\nINLINE_ORIGIN 0 o\nINLINE_ORIGIN 1 0 old\nFUNC 10 20 0 f\nINLINE 0 1 0 0 10 8\nINLINE 1 2 1 12 2\nINLINE 0 9 0 0 10 3 14 9\n10 10 1 0\n12 3 2 0\n12 4 3 7\n14 0 4 0\nPUBLIC 40 0 p\n"), uint64(0x12))
	f.Add([]byte("FUNC m fffffffffffffff0 20 0 f\r\nINLINE 0 1 0 fffffffffffffff8 10\nINLINE 2 1 0 0 fffffffffffffff8 10\r\nfffffffffffffff4 10 1 -1"), ^uint64(0))
	f.Fuzz(func(t *testing.T, text []byte, addr uint64) {
		file, x := symbolFile(text, lookup.Options{Memory: 1 << 10}), emit.NewIndex(text)
		for d := range uint64(24) {
			sameAsIndex(t, file, x, addr+d-8)
		}
	})
}
