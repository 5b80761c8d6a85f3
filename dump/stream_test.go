package dump

import "testing"

// TestPopulate: memory is asked for ahead of what is inflated, in order, so far and
// no farther, and not before anything is inflated.
func TestPopulate(t *testing.T) {
	x := &stream{}
	x.s.Info = make([]byte, 20<<20)
	size := len(x.s.Info)
	ask := func() (n int) {
		x.mu.Lock()
		defer x.mu.Unlock()
		for x.populate() {
			n++
		}
		return n
	}
	if n := ask(); n != 0 {
		t.Errorf("%d steps before the start", n)
	}
	for _, test := range []struct{ inflated, populated int }{
		{1 << 20, 9 << 20}, {1 << 20, 9 << 20}, {2 << 20, 10 << 20}, {12 << 20, 20 << 20}, {19 << 20, size}, {size, size},
	} {
		before := x.populated
		x.inflated = test.inflated
		steps := ask()
		if x.populated != test.populated || (steps == 0) != (before == test.populated) {
			t.Errorf("%d MiB inflated: %d steps, to %#x, want %#x", test.inflated>>20, steps, x.populated, test.populated)
		}
	}
	for i, b := range x.s.Info { // it wrote nothing
		if b != 0 {
			t.Fatalf("byte %#x", i)
		}
	}
}
