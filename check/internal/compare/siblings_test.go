package compare

import (
	"testing"

	"symkit/check/internal/pcs"
)

// TestNestedCost: calls side by side whose spans overlap, but not their ranges, are compared a bounded
// number of times. 50,000 calls with ranges of one byte took 42 s of CPU time.
func TestNestedCost(t *testing.T) {
	const calls = 2000
	n := nester{calls: []*nestedCall{{}}, left: mostSiblings*calls + fewSiblings}
	for i := range uint64(calls) {
		c := &nestedCall{}
		for k := range uint64(100) {
			at := k*calls + i
			c.ranges = append(c.ranges, pcs.Range{Lo: at, Hi: at + 1})
		}
		if depth := n.add(c, 0); depth != 0 {
			t.Fatalf("call %d: depth %d, want 0", i, depth)
		}
	}

	// A call in one of the first is a call in it as long as comparisons are left.
	n.left = 1 << 20
	inner := &nestedCall{ranges: pcs.Set{{Lo: calls + 7, Hi: calls + 8}}}
	if depth := n.add(inner, 0); depth != 1 || len(n.calls[8].children) != 1 {
		t.Errorf("depth %d, %d calls in call 7, want 1 and 1", depth, len(n.calls[8].children))
	}
	spent := 1<<20 - n.left
	if most := calls + 8*(rangesCost+1); spent > most {
		t.Errorf("%d steps, want %d at most", spent, most)
	}
}
