package inlines

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"symkit/dump/internal/funcs"
	"symkit/dump/internal/load"
	"symkit/internal/dwarfx"
	"symkit/limits"
)

// spans are ranges, given by their bounds in turn.
func spans(bounds ...uint64) (ranges []dwarfx.Range) {
	for pair := range slices.Chunk(bounds, 2) {
		ranges = append(ranges, dwarfx.Range{Lo: pair[0], Hi: pair[1]})
	}
	return ranges
}

// clipped is a call with its ranges.
type clipped struct {
	depth  uint32
	ranges []dwarfx.Range
}

// unitWith returns a unit with functions, each with some of calls.
func unitWith(calls []clipped, funcs ...dwarfx.Func) *load.Unit {
	u := &load.Unit{Unit: new(dwarfx.Unit), Funcs: funcs}
	for i, c := range calls {
		from := uint32(len(u.Ranges))
		u.Ranges = append(u.Ranges, c.ranges...)
		u.Calls = append(u.Calls, dwarfx.Inline{
			Depth: c.depth, Origin: uint32(i), CallFile: dwarfx.NoFile,
			Ranges: dwarfx.Span{From: from, To: uint32(len(u.Ranges))},
		})
	}
	return u
}

// place returns the calls of all functions, in words.
func place(p *Placer, u *load.Unit, all []funcs.Func) (got []string) {
	var ofUnit []uint32
	for i := range all {
		ofUnit = append(ofUnit, uint32(i))
	}
	p.Start(u, all, ofUnit)
	for i := range all {
		calls := p.Of(&all[i], func(uint64) uint32 { return 0 })
		for _, c := range calls.List {
			got = append(got, fmt.Sprintf("%d %d %x", c.Depth, c.Origin, calls.Ranges[c.Ranges.From:c.Ranges.To]))
		}
	}
	return got
}

// TestCalls: calls are clipped to their FUNC and to the call around them, also those of a
// function with several ranges.
func TestCalls(t *testing.T) {
	u := unitWith([]clipped{
		{0, spans(0x10, 0x20)},
		{0, spans(0x30, 0x38, 0x38, 0x40, 0x50, 0x60)}, // two of them side by side
		{1, spans(0x32, 0x5a)},                         // in call 1
		{0, spans(0x1000, 0x1010, 0x1100, 0x1110)},     // in the second function
		{1, spans(0x1004, 0x1008, 0x1104, 0x1108)},     // in call 3
	}, dwarfx.Func{Inlines: dwarfx.Span{From: 0, To: 3}}, dwarfx.Func{Inlines: dwarfx.Span{From: 3, To: 5}})
	got := place(NewPlacer(nil, limits.Limits{}, 0), u, []funcs.Func{{Lo: 0x10, Hi: 0x100}, {Lo: 0x1000, Hi: 0x1020, Index: 1}, {Lo: 0x1100, Hi: 0x1120, Index: 1}})
	want := []string{
		"0 0 [{10 20}]", "0 1 [{30 40} {50 60}]", "1 2 [{32 40} {50 5a}]",
		"0 3 [{1000 1010}]", "1 4 [{1004 1008}]", "0 3 [{1100 1110}]", "1 4 [{1104 1108}]",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestOverlap: of calls side by side the first has the code that they share,
// and what lies in a call that was cut is cut, too.
func TestOverlap(t *testing.T) {
	for _, test := range []struct {
		name  string
		calls []clipped
		want  []clipped
		cut   int
	}{
		{"sound", []clipped{{0, spans(0x20, 0x30, 0x50, 0x60)}, {1, spans(0x52, 0x54)}, {0, spans(0x30, 0x50)}},
			[]clipped{{0, spans(0x20, 0x30, 0x50, 0x60)}, {1, spans(0x52, 0x54)}, {0, spans(0x30, 0x50)}}, 0},
		{"the first has it", []clipped{{0, spans(0x20, 0x30)}, {0, spans(0x28, 0x40)}},
			[]clipped{{0, spans(0x20, 0x30)}, {0, spans(0x30, 0x40)}}, 1},
		{"nothing is left", []clipped{{0, spans(0x20, 0x30)}, {0, spans(0x30, 0x40)}, {0, spans(0x28, 0x38)}, {1, spans(0x28, 0x38)}},
			[]clipped{{0, spans(0x20, 0x30)}, {0, spans(0x30, 0x40)}}, 1},
		{"a hole", []clipped{{0, spans(0x28, 0x30)}, {0, spans(0x20, 0x40)}, {1, spans(0x24, 0x38)}},
			[]clipped{{0, spans(0x28, 0x30)}, {0, spans(0x20, 0x28, 0x30, 0x40)}, {1, spans(0x24, 0x28, 0x30, 0x38)}}, 1},
		{"in different calls", []clipped{{0, spans(0x20, 0x30)}, {1, spans(0x20, 0x28)}, {0, spans(0x10, 0x20)}, {1, spans(0x10, 0x1c)}, {1, spans(0x18, 0x20)}},
			[]clipped{{0, spans(0x20, 0x30)}, {1, spans(0x20, 0x28)}, {0, spans(0x10, 0x20)}, {1, spans(0x10, 0x1c)}, {1, spans(0x1c, 0x20)}}, 1},
		// GCC 4.1 writes calls in calls as siblings.
		{"the same code", []clipped{{0, spans(0x20, 0x30)}, {0, spans(0x20, 0x30)}, {1, spans(0x20, 0x28)}, {0, spans(0x20, 0x28)}},
			[]clipped{{0, spans(0x20, 0x30)}, {1, spans(0x20, 0x30)}, {2, spans(0x20, 0x28)}, {3, spans(0x20, 0x28)}}, 0},
		{"siblings in siblings", []clipped{{0, spans(0x20, 0x30, 0x50, 0x60)}, {0, spans(0x60, 0x70)}, {0, spans(0x22, 0x2c, 0x50, 0x54)}, {1, spans(0x24, 0x26)},
			{0, spans(0x62, 0x64)}, {0, spans(0x52, 0x54)}, {0, spans(0x26, 0x28)}, {0, spans(0x5c, 0x60, 0x58, 0x5c)}, {0, spans(0x2e, 0x32)}},
			[]clipped{{0, spans(0x20, 0x30, 0x50, 0x60)}, {1, spans(0x22, 0x2c, 0x50, 0x54)}, {2, spans(0x24, 0x26)}, {2, spans(0x52, 0x54)}, {2, spans(0x26, 0x28)},
				{1, spans(0x58, 0x60)}, {0, spans(0x60, 0x70)}, {1, spans(0x62, 0x64)}, {0, spans(0x30, 0x32)}}, 1},
	} {
		u := unitWith(test.calls, dwarfx.Func{Inlines: dwarfx.Span{To: uint32(len(test.calls))}})
		p := NewPlacer(nil, limits.Limits{}, 0)
		all := []funcs.Func{{Lo: 0x10, Hi: 0x100}}
		p.Start(u, all, []uint32{0})
		calls := p.Of(&all[0], func(uint64) uint32 { return 0 })
		var got []clipped
		for _, c := range calls.List {
			got = append(got, clipped{c.Depth, calls.Ranges[c.Ranges.From:c.Ranges.To]})
		}
		same := func(a, b clipped) bool { return a.depth == b.depth && slices.Equal(a.ranges, b.ranges) }
		if !slices.EqualFunc(got, test.want, same) || p.Overlapping != test.cut {
			t.Errorf("%s: %v (%d), want %v (%d)", test.name, got, p.Overlapping, test.want, test.cut)
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
		// Outer lies in what is appended to, as it does in Placer.ranges.
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

// TestIntersectMost: intersect stops after more than most ranges, in whichever list they are.
func TestIntersectMost(t *testing.T) {
	var parts []dwarfx.Range
	for at := range uint64(100) {
		parts = append(parts, dwarfx.Range{Lo: 10 * at, Hi: 10*at + 5})
	}
	whole := []dwarfx.Range{{Lo: 0, Hi: 1000}}
	for _, test := range []struct {
		outer, inner []dwarfx.Range
		most, want   int
	}{
		{parts, whole, 100, 100},
		{parts, whole, 40, 41},
		{whole, parts, 40, 41},
		{parts, parts, 0, 1},
		{parts, parts[50:51], 0, 1},
	} {
		if got := intersect(nil, test.outer, test.inner, test.most); len(got) != test.want {
			t.Errorf("%d in %d, at most %d: %d ranges, want %d", len(test.inner), len(test.outer), test.most, len(got), test.want)
		}
	}
	for i := range parts {
		if got := intersect(nil, parts, parts[i:i+1], 1); len(got) != 1 || got[0] != parts[i] {
			t.Errorf("part %d: %v", i, got)
		}
	}
}

// TestCallsWithoutFile: Zig's own compiler gives an inlined call a line and no file. The line is
// kept, and the file is that of the code around the call.
func TestCallsWithoutFile(t *testing.T) {
	u := unitWith([]clipped{
		{0, spans(0x10, 0x20)}, // begins with the function
		{1, spans(0x14, 0x18)}, // within call 0
		{1, spans(0x18, 0x20)}, // ends with call 0
		{0, spans(0x30, 0x40)},
		{1, spans(0x30, 0x38)}, // begins with call 3
		{1, spans(0x38, 0x40)},
		{0, spans(0x50, 0x60)},
		{1, spans(0x50, 0x60)}, // all of call 6
	}, dwarfx.Func{Inlines: dwarfx.Span{From: 0, To: 8}})
	for i := range u.Calls {
		u.Calls[i].CallLine = uint32(i) + 1
	}

	var p Placer
	p.Start(u, []funcs.Func{{Lo: 0x10, Hi: 0x100}}, []uint32{0})
	calls := p.Of(&funcs.Func{Lo: 0x10, Hi: 0x100}, func(addr uint64) uint32 { return uint32(addr) })
	var got []string
	for _, c := range calls.List {
		got = append(got, fmt.Sprintf("%x:%d", c.CallFile, c.CallLine))
	}
	want := []string{"10:1", "13:2", "17:3", "10:4", "38:5", "37:6", "10:7", "50:8"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
