package lookup

import (
	"testing"

	"symkit/internal/dwarfx"
)

// TestFileAround: a call without a file, as Zig's compiler writes it, has that of the code around it.
func TestFileAround(t *testing.T) {
	rows := []dwarfx.LineRow{{Addr: 0x10, File: 1}, {Addr: 0x20, File: 2}, {Addr: 0x30, File: 3}, {Addr: 0x40, File: dwarfx.EndOfCode}}
	span := func(lo, hi uint64) []dwarfx.Range { return []dwarfx.Range{{Lo: lo, Hi: hi}} }
	for _, tt := range []struct {
		name       string
		depth      uint32
		outer, own []dwarfx.Range
		want       uint32
	}{
		{"in a function", 0, span(0x10, 0x40), span(0x24, 0x28), 1},
		{"within a call", 1, span(0x10, 0x40), span(0x24, 0x28), 2},
		{"at the beginning of a call", 1, span(0x10, 0x40), span(0x10, 0x30), 3},
		{"all of a call", 1, span(0x20, 0x30), span(0x20, 0x30), 2},
		{"without lines", 0, span(0x40, 0x50), span(0x44, 0x48), dwarfx.NoFile},
		{"before all lines", 0, span(0, 8), span(0, 4), dwarfx.NoFile},
		{"without code", 0, nil, span(0, 4), dwarfx.NoFile},
	} {
		if got := fileAround(rows, &dwarfx.Inline{Depth: tt.depth}, tt.outer, tt.own); got != tt.want {
			t.Errorf("%s: %#x, want %#x", tt.name, got, tt.want)
		}
	}
}
