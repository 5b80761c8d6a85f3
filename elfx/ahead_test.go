package elfx

import "testing"

// TestAhead: what is written next is populated in steps, of each buffer once.
func TestAhead(t *testing.T) {
	var a ahead
	one, two := make([]byte, 2<<20), make([]byte, leastAhead+100)
	for i, test := range []struct {
		data []byte
		done int
		next int // up to which there are pages then
	}{
		{nil, 0, 0},
		{one, 0, aheadStep},
		{one, aheadStep / 4, aheadStep},
		{one, aheadStep, 2 * aheadStep},
		{two, 1000, 1000 + aheadStep}, // begins with what the other one ended with
		{two, len(two), len(two)},
		{one, 5, len(one)}, // again
		{one, 2 * aheadStep, len(one)},
		{two, 5, len(two)},
	} {
		if a.wrote(test.data, test.done); a.next != test.next {
			t.Errorf("%d: populated up to %#x, want %#x", i, a.next, test.next)
		}
	}
	for i, b := range append(one, two...) { // nothing was written
		if b != 0 {
			t.Fatalf("byte %#x", i)
		}
	}
}
