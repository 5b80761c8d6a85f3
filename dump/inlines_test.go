package dump

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"symkit/dump/dwarfx"
	"symkit/emit"
)

// TestInlinesInPlace: calls and their ranges are as they should be, whether they lie
// where those of the scan did or, of a function in several ranges or where calls are cut
// into more ranges than they had, elsewhere.
func TestInlinesInPlace(t *testing.T) {
	for _, far := range []uint64{0, 1 << 33} { // whether the unit's ranges are far apart
		ranges := spans(
			0x10, 0x20, // of call 0
			0x30, 0x38, 0x38, 0x40, 0x50, 0x60, // of call 1, two of them side by side
			0x32, 0x5a, // of call 2, in call 1
			0x1000, 0x1010, 0x1100, 0x1110, // of call 3, in the second function
			0x1004, 0x1008, 0x1104, 0x1108, // of call 4, in call 3
			far+0x2000, far+0x2010) // of nothing here
		span := func(from, to uint32) dwarfx.Span { return dwarfx.Span{From: from, To: to} }
		names, ids := wantedNames(5)
		u := &unit{Unit: new(dwarfx.Unit), origins: ids, funcs: []uint32{0, 1, 2}, ranges: newRangeList(ranges)}
		u.Funcs = []dwarfx.Func{{Inlines: span(0, 3)}, {Inlines: span(3, 5)}}
		for i, c := range []struct {
			depth  uint32
			ranges dwarfx.Span
		}{{0, span(0, 1)}, {0, span(1, 4)}, {1, span(4, 5)}, {0, span(5, 7)}, {1, span(7, 9)}} {
			u.calls = append(u.calls, inline{Depth: c.depth, CallFile: dwarfx.NoFile, Origin: uint32(i), Ranges: c.ranges})
		}
		d := &dumper{m: &Module{Funcs: make([]Func, 3)}, names: names}
		d.funcs = []fn{{lo: 0x10, hi: 0x100}, {lo: 0x1000, hi: 0x1020, index: 1}, {lo: 0x1100, hi: 0x1120, index: 1}}
		for i := range d.m.Funcs {
			d.m.Funcs[i].lines = []emit.Line{{}}
		}
		a := inliner{d: d}
		a.attach(u)
		var got []string
		for _, f := range d.m.Funcs {
			for _, in := range f.inlines {
				got = append(got, fmt.Sprintf("%d %d %x", in.Depth, slices.Index(ids, in.Origin), f.ranges.append(nil, in.Ranges)))
			}
		}
		if want := []string{
			"0 0 [{10 20}]", "0 1 [{30 40} {50 60}]", "1 2 [{32 40} {50 5a}]",
			"0 3 [{1000 1010}]", "1 4 [{1004 1008}]", "0 3 [{1100 1110}]", "1 4 [{1104 1108}]",
		}; !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
		for i, id := range ids {
			if !names.isWanted(id) {
				t.Errorf("name %d is not wanted", i)
			}
		}
	}
}

// TestIntersect: what is in both lists, in order, with gaps, and behind what was there.
func TestIntersect(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	list := func(ascending bool) (ranges []dwarfx.Range) {
		at := uint64(0)
		for range random.IntN(6) {
			if at += 1 + random.Uint64N(5); !ascending {
				at = random.Uint64N(50)
			}
			r := dwarfx.Range{Lo: at, Hi: at + 1 + random.Uint64N(9)}
			ranges, at = append(ranges, r), r.Hi
		}
		return ranges
	}
	for range 20000 {
		outer, inner := list(true), list(random.IntN(2) == 0)
		var want [80]bool
		for _, r := range inner {
			for _, o := range outer {
				for at := max(r.Lo, o.Lo); at < min(r.Hi, o.Hi); at++ {
					want[at] = true
				}
			}
		}
		// Outer lies in what is appended to, as it does in inliner.ranges.
		before := append([]dwarfx.Range{{Lo: 1000, Hi: 1001}}, outer...)
		lists := append(make([]dwarfx.Range, 0, random.IntN(30)), before...)
		all := intersect(lists, lists[1:], joined(slices.Clone(inner)), math.MaxInt)
		var got [80]bool
		last := uint64(0)
		for i, r := range all[len(before):] {
			if i > 0 && r.Lo <= last || r.Lo >= r.Hi {
				t.Fatalf("%v and %v: %v", outer, inner, all[len(before):])
			}
			for at := r.Lo; at < r.Hi; at++ {
				got[at] = true
			}
			last = r.Hi
		}
		if got != want || !slices.Equal(all[:len(before)], before) {
			t.Fatalf("%v and %v: %v", outer, inner, all[len(before):])
		}
	}
}

// TestIntersectMost: it stops behind more than most ranges, wherever they come from.
func TestIntersectMost(t *testing.T) {
	var pieces []dwarfx.Range
	for at := range uint64(100) {
		pieces = append(pieces, dwarfx.Range{Lo: 10 * at, Hi: 10*at + 5})
	}
	whole := []dwarfx.Range{{Lo: 0, Hi: 1000}}
	for _, test := range []struct {
		outer, inner []dwarfx.Range
		most, want   int
	}{
		{pieces, whole, 100, 100},
		{pieces, whole, 40, 41},
		{whole, pieces, 40, 41},
		{pieces, pieces, 0, 1},
		{pieces, pieces[50:51], 0, 1},
	} {
		if got := intersect(nil, test.outer, test.inner, test.most); len(got) != test.want {
			t.Errorf("%d in %d, at most %d: %d ranges, want %d", len(test.inner), len(test.outer), test.most, len(got), test.want)
		}
	}
	for i := range pieces {
		if got := intersect(nil, pieces, pieces[i:i+1], 1); len(got) != 1 || got[0] != pieces[i] {
			t.Errorf("piece %d: %v", i, got)
		}
	}
}

// TestLabels: functions with assembler labels have their own names, inlined ones that share a
// label too; a plain name that is mangled, as Nim's are, is demangled.
func TestLabels(t *testing.T) {
	for _, name := range []string{"label-x86_64-gcc12-O2-dw5.elf", "label-x86_64-clang14-O2-dw5.elf"} {
		_, text := dumpText(t, fixture(t, name), Options{Inlines: true})
		var got []string
		for line := range strings.Lines(string(text)) {
			f := strings.Fields(line)
			switch f[0] {
			case "INLINE_ORIGIN":
				got = append(got, f[0]+" "+f[2])
			case "FUNC":
				got = append(got, f[0]+" "+f[4])
			}
		}
		slices.Sort(got)
		want := []string{
			"FUNC other", "FUNC run", "FUNC shop::double(int)", "FUNC three",
			"INLINE_ORIGIN one", "INLINE_ORIGIN three", "INLINE_ORIGIN two",
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
