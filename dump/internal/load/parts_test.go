package load_test

import (
	"fmt"
	"testing"

	"symkit/dump/internal/load"
)

// TestParts: a unit that is read in parts gives the text that it gives as a whole, and counts as one.
func TestParts(t *testing.T) {
	p := newProgram()
	p.unit(1<<20, true)
	p.fill(1 << 18)
	p.unit(1<<20, false)
	want := dumpFile(t, p.flat(t), 1)
	if want.err != nil || want.losses != "0 []" || want.units != p.units {
		t.Fatalf("%d of %d units, %s, %v", want.units, p.units, want.losses, want.err)
	}
	for _, most := range []int{2, 1000} {
		t.Run(fmt.Sprintf("up to %d parts", most), func(t *testing.T) {
			t.Cleanup(load.SetParts(1<<13, most))
			smallSegments(t, leastSegment, 1)
			p.same(t, want)
			for _, jobs := range jobsOf {
				if got := dumpFile(t, p.flat(t), jobs); got != want {
					t.Errorf("not compressed, %d goroutines: another outcome: %s", jobs, firstDiff(got.text, want.text))
				}
			}
		})
	}
}
