package dump

import (
	"slices"
	"testing"

	"symkit/dump/dwarfx"
	"symkit/emit"
)

// spans are ranges, given by their bounds in turn.
func spans(bounds ...uint64) (ranges []dwarfx.Range) {
	for pair := range slices.Chunk(bounds, 2) {
		ranges = append(ranges, dwarfx.Range{Lo: pair[0], Hi: pair[1]})
	}
	return ranges
}

// wantedNames is a table of n names, of which none is wanted yet, and their numbers.
func wantedNames(n int) (t *nameTable, ids []uint32) {
	t = newNameTable(n)
	for range n {
		ids = append(ids, t.add("f"))
	}
	t.wantNone()
	return t, ids
}

// TestOverlap: of calls side by side the first has the code that they share,
// and what lies in a call that was cut is cut, too.
func TestOverlap(t *testing.T) {
	type clipped struct {
		depth  uint32
		ranges []dwarfx.Range
	}
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
		{"nothing is left", []clipped{{0, spans(0x20, 0x30)}, {0, spans(0x20, 0x30)}, {1, spans(0x20, 0x30)}},
			[]clipped{{0, spans(0x20, 0x30)}}, 1},
		{"a hole", []clipped{{0, spans(0x28, 0x30)}, {0, spans(0x20, 0x40)}, {1, spans(0x24, 0x38)}},
			[]clipped{{0, spans(0x28, 0x30)}, {0, spans(0x20, 0x28, 0x30, 0x40)}, {1, spans(0x24, 0x28, 0x30, 0x38)}}, 1},
		{"in different calls", []clipped{{0, spans(0x20, 0x30)}, {1, spans(0x20, 0x28)}, {0, spans(0x10, 0x20)}, {1, spans(0x10, 0x20)}, {1, spans(0x18, 0x20)}},
			[]clipped{{0, spans(0x20, 0x30)}, {1, spans(0x20, 0x28)}, {0, spans(0x10, 0x20)}, {1, spans(0x10, 0x20)}}, 1},
	} {
		var ranges []dwarfx.Range
		names, ids := wantedNames(1)
		u := &unit{Unit: new(dwarfx.Unit), origins: ids}
		u.Funcs = []dwarfx.Func{{Inlines: dwarfx.Span{To: uint32(len(test.calls))}}}
		for _, c := range test.calls {
			from := uint32(len(ranges))
			ranges = append(ranges, c.ranges...)
			u.calls = append(u.calls, inline{Depth: c.depth, CallFile: dwarfx.NoFile, Ranges: dwarfx.Span{From: from, To: uint32(len(ranges))}})
		}
		u.ranges = newRangeList(ranges)
		a := inliner{d: &dumper{m: &Module{}, names: names}, u: u, left: []uint32{0}, more: 10, looks: 10}
		out := Func{lines: []emit.Line{{}}}
		a.function(&fn{lo: 0x10, hi: 0x100}, &out)
		var got []clipped
		for _, in := range out.inlines {
			c := clipped{depth: in.Depth}
			c.ranges = out.ranges.append(nil, in.Ranges)
			got = append(got, c)
		}
		same := func(a, b clipped) bool { return a.depth == b.depth && slices.Equal(a.ranges, b.ranges) }
		if !slices.EqualFunc(got, test.want, same) || u.overlap != test.cut {
			t.Errorf("%s: %v (%d), want %v (%d)", test.name, got, u.overlap, test.want, test.cut)
		}
	}
}
