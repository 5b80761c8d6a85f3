package minidump

import (
	"fmt"
	"testing"

	"symkit/walk/internal/mdmp/synth"
)

// decoded assembles and decodes a dump without losses, and checks it in both
// byte orders.
func decoded(t *testing.T, text string, check func(t *testing.T, d *Dump)) {
	t.Helper()
	for _, big := range []bool{false, true} {
		d, err := New(synth.Assemble(t, big, synth.Whole(text)).Data)
		if err != nil {
			t.Fatal(err)
		}
		if d.file.Lost != 0 {
			t.Errorf("%v", d.file.Losses)
		}
		check(t, d)
	}
}

// eq compares two values as they are printed.
func eq(t *testing.T, got, want any) {
	t.Helper()
	if g, w := fmt.Sprint(got), fmt.Sprint(want); g != w {
		t.Errorf("got %s\nwant %s", g, w)
	}
}
