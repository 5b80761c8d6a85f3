package elfx

import "testing"

// TestAheadOnce: what is written next is populated in steps, of each buffer once.
func TestAheadOnce(t *testing.T) {
	var a aheadOnce
	one, two := make([]byte, 2<<20), make([]byte, largeBuffer+100)
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

// TestPopulate: of no slice, however it lies in its pages, anything changes.
func TestPopulate(t *testing.T) {
	all := make([]uint32, 1<<18)
	for i := range all {
		all[i] = uint32(i)
	}
	Populate[uint32](nil)
	for from := 0; from < len(all); from += 509 {
		Populate(all[from:])
		Populate(all[:from])
		Populate(all[from:min(from+leastPopulated/4, len(all))])
	}
	for i, x := range all {
		if x != uint32(i) {
			t.Fatalf("element %d is %d", i, x)
		}
	}
	fresh := make([][2]string, 1<<14)
	Populate(fresh)
	for i := range fresh {
		if fresh[i] != [2]string{} {
			t.Fatalf("element %d is %q", i, fresh[i])
		}
	}
}

// TestString: a string of a buffer is its bytes.
func TestString(t *testing.T) {
	for _, want := range []string{"", "a", "abc"} {
		if got := String([]byte(want)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
