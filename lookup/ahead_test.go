package lookup_test

import (
	"testing"
	"time"

	"symkit/lookup"
)

// TestAhead: units that were not asked for are decoded, and answers stay the same.
func TestAhead(t *testing.T) {
	plain := open(t, program, lookup.Options{})
	f := open(t, program, lookup.Options{Ahead: true})
	all := open(t, program, lookup.Options{})
	err := all.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const addr = 0x4012de
	if got, want := answer(t, f, addr), answer(t, plain, addr); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for wait := time.Now().Add(time.Minute); f.Memory() < all.Memory(); time.Sleep(time.Millisecond) {
		if time.Now().After(wait) {
			t.Fatalf("%d bytes, want %d", f.Memory(), all.Memory())
		}
	}
	for at := uint64(0x401000); at < 0x401800; at += 3 {
		got, want := answer(t, f, at), answer(t, plain, at)
		if got != want {
			t.Errorf("%#x: %s, want %s", at, got, want)
		}
	}

	// A file that is closed meanwhile.
	f, err = lookup.Open(t.Context(), fixtures+program, lookup.Options{Ahead: true})
	if err != nil {
		t.Fatal(err)
	}
	answer(t, f, addr)
	f.Close()
}
