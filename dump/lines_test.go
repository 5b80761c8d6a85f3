package dump

import (
	"math/rand/v2"
	"slices"
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

// TestApart: nothing is written over that another unit reads.
func TestApart(t *testing.T) {
	for _, test := range []struct {
		name   string
		tables []lineTable
		want   []int
	}{
		{"none", nil, nil},
		{"one", []lineTable{{7, 10, 20}}, []int{7}},
		{"side by side", []lineTable{{1, 10, 20}, {0, 0, 10}, {2, 20, 21}}, []int{0, 1, 2}},
		{"the same", []lineTable{{0, 0, 10}, {1, 10, 20}, {2, 10, 20}, {3, 20, 30}}, []int{0, 3}},
		{"one reaches into the next", []lineTable{{0, 0, 11}, {1, 10, 20}, {2, 20, 30}}, []int{2}},
		{"one holds others", []lineTable{{0, 0, 40}, {1, 10, 20}, {2, 20, 30}, {3, 40, 50}}, []int{3}},
	} {
		var got []int
		for _, table := range apart(test.tables) {
			got = append(got, table.group)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}
