package lines

import (
	"math/rand/v2"
	"slices"
	"testing"

	"symkit/internal/dwarfx"
)

// TestRowAt: the row in force is found from every row before it.
func TestRowAt(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	var rows []dwarfx.LineRow
	for addr := uint64(100); len(rows) < 200; addr += rnd.Uint64N(4) {
		rows = append(rows, dwarfx.LineRow{Addr: addr}) // some share their address
	}
	r := &Reader{table: dwarfx.LineTable{Rows: rows}}
	want := 0
	for addr := uint64(90); addr < rows[len(rows)-1].Addr+10; addr++ {
		before := want
		for want+1 < len(rows) && rows[want+1].Addr <= addr {
			want++
		}
		for from := range before + 1 {
			if got := r.rowAt(from, addr); got != want {
				t.Fatalf("rowAt(%d, %#x) = %d, want %d", from, addr, got, want)
			}
		}
	}
}

// TestAssign: a function has the lines of the covering group with the first owner.
func TestAssign(t *testing.T) {
	groups := []Group{{Owner: 7}, {Owner: 2}, {Owner: 4}}
	covered := [][]dwarfx.Span{
		{{From: 0, To: 6}},
		{{From: 1, To: 3}, {From: 2, To: 4}},
		{{From: 3, To: 5}, {From: 8, To: 9}},
	}
	got := Assign(groups, covered, 10)
	want := [][]int{{0, 5}, {1, 2, 3}, {4, 8}}
	if !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestAssignTime: many groups that cover the same functions take no product of both.
func TestAssignTime(t *testing.T) {
	const count = 1 << 14
	groups, covered := make([]Group, count), make([][]dwarfx.Span, count)
	for i := range groups {
		groups[i].Owner = count - i
		covered[i] = []dwarfx.Span{{From: 0, To: count}}
	}
	got := Assign(groups, covered, count)
	if len(got[count-1]) != count {
		t.Errorf("the first owner has %d functions", len(got[count-1]))
	}
}
