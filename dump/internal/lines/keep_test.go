package lines

import (
	"math/rand/v2"
	"slices"
	"testing"

	"symkit/dump/internal/files"
	"symkit/dump/internal/funcs"
	"symkit/dump/pathmap"
	"symkit/internal/dwarfx"
	"symkit/limits"
)

// TestKeep: the rows that are kept give any function the lines that all rows give it.
func TestKeep(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	kept, all := 0, 0
	for range 3000 {
		// Sequences with gaps, some of no length.
		var rows []dwarfx.LineRow
		addr := uint64(100)
		for range 1 + rnd.IntN(4) {
			for range 1 + rnd.IntN(12) {
				rows = append(rows, dwarfx.LineRow{Addr: addr, Line: rnd.Uint32N(3), File: rnd.Uint32N(2)})
				addr += 1 + rnd.Uint64N(9)
			}
			rows = append(rows, dwarfx.LineRow{Addr: addr, File: dwarfx.EndOfCode})
			addr += rnd.Uint64N(3) * 10
		}

		// Functions that do not overlap, before and after the rows too.
		var only []funcs.Func
		for lo := 60 + rnd.Uint64N(90); lo < addr+30; lo += rnd.Uint64N(2) * rnd.Uint64N(60) {
			hi := lo + 1 + rnd.Uint64N(25)
			only = append(only, funcs.Func{Lo: lo, Hi: hi, Open: rnd.IntN(4) == 0})
			lo = hi
		}

		free := func(uint64) error { return nil }
		table := files.New(pathmap.Map{}, 1<<20, limits.Limits{}, false)
		whole, part := NewReader(table, 0), NewReader(table, 0)
		whole.Use(&dwarfx.LineTable{Rows: rows}, free)
		part.Use(whole.Keep(only), free)
		kept, all = kept+len(part.table.Rows), all+len(rows)
		if len(part.table.Rows) > len(rows) {
			t.Fatalf("%d of %d rows", len(part.table.Rows), len(rows))
		}
		for _, f := range only {
			if f.Open {
				want := whole.EndOf(f.Lo)
				if got := part.EndOf(f.Lo); got != want {
					t.Fatalf("%+v ends at %d, with all rows %d; rows %v", f, got, want, rows)
				}
				f.Hi = min(f.Hi, want)
			}
			if got, want := part.Of(f.Lo, f.Hi), whole.Of(f.Lo, f.Hi); !slices.Equal(got, want) {
				t.Fatalf("%+v has %v, with all rows %v; rows %v, kept %v", f, got, want, rows, part.table.Rows)
			}
		}
	}
	if kept > all*9/10 {
		t.Errorf("%d of %d rows are kept", kept, all)
	}
}
