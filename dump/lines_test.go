package dump

import (
	"math/rand/v2"
	"testing"

	"symkit/dump/dwarfx"
)

// The row in force is found from every row before it.
func TestRowAt(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var rows []dwarfx.LineRow
	for addr := uint64(100); len(rows) < 200; addr += r.Uint64N(4) {
		rows = append(rows, dwarfx.LineRow{Addr: addr}) // some share their address
	}
	want := 0
	for addr := uint64(90); addr < rows[len(rows)-1].Addr+10; addr++ {
		before := want
		for want+1 < len(rows) && rows[want+1].Addr <= addr {
			want++
		}
		for from := range before + 1 {
			if got := rowAt(rows, from, addr); got != want {
				t.Fatalf("rowAt(%d, %#x) = %d, want %d", from, addr, got, want)
			}
		}
	}
}
