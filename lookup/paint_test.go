package lookup

import (
	"math/rand/v2"
	"testing"
)

// TestPaint: the innermost scope at each address is that of the interval that begins last.
func TestPaint(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		var code []interval
		for n := range int32(rnd.IntN(8)) {
			lo := rnd.Uint64N(20)
			code = append(code, interval{lo, lo + 1 + rnd.Uint64N(10), n})
		}
		starts, innermost := new(painter).paint(code)
		for addr := range uint64(40) {
			// The last one that begins, among those that are still open when it begins.
			want := int32(-1)
			var best interval
			for _, c := range code {
				if c.lo <= addr && addr < c.hi && (want < 0 || c.lo > best.lo || c.lo == best.lo && c.scope > best.scope) {
					want, best = c.scope, c
				}
			}
			got := int32(-1)
			for i, at := range starts {
				if at <= addr {
					got = innermost[i]
				}
			}
			if got != want {
				t.Fatalf("%v at %d: %d, want %d", code, addr, got, want)
			}
		}
	}
}

// TestFlatten: of units that cover an address the first one has it.
func TestFlatten(t *testing.T) {
	rnd := rand.New(rand.NewPCG(2, 2))
	for range 2000 {
		var spans []span
		for range rnd.IntN(8) {
			lo := rnd.Uint64N(20)
			spans = append(spans, span{lo, lo + 1 + rnd.Uint64N(10), rnd.Int32N(5)})
		}
		all := append([]span(nil), spans...)
		flat := flatten(spans)
		for addr := range uint64(40) {
			at := func(list []span) int32 {
				unit := int32(-1)
				for _, s := range list {
					if s.lo <= addr && addr < s.hi && (unit < 0 || s.unit < unit) {
						unit = s.unit
					}
				}
				return unit
			}
			if got, want := at(flat), at(all); got != want {
				t.Fatalf("%v at %d: %d, want %d", all, addr, got, want)
			}
		}
		for i := 1; i < len(flat); i++ {
			if flat[i].lo < flat[i-1].hi {
				t.Fatalf("%v: %v overlap", all, flat)
			}
		}
	}
}
