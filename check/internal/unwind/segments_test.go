package unwind

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"symkit/check/internal/eval"
	"symkit/check/internal/symfile"
	"symkit/limits"
)

// TestSegments checks that rows in order, each of which continues where the one before has ended,
// have the same segments and rules as rows that are looked up one by one.
func TestSegments(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		text, addr := "MODULE Linux x86_64 0 a\n", 0x100
		for range 1 + rng.IntN(4) {
			addr += 8 * rng.IntN(2)
			size := 8 + 8*rng.IntN(6)
			text += fmt.Sprintf("STACK CFI INIT %x %x .cfa: $rsp 8 + .ra: .cfa -8 + ^\n", addr, size)
			for at := addr + 1 + rng.IntN(8); at < addr+size; at += 1 + rng.IntN(8) {
				text += fmt.Sprintf("STACK CFI %x .cfa: $rsp %d +\n", at, 8*rng.IntN(5))
			}
			addr += size
		}
		s, err := symfile.Parse(symfile.Text{Bytes: []byte(text)}, limits.Limits{}, nil, nil, nil)
		if err != nil {
			t.Fatal(err)
		}

		w := newTestWorker()
		w.r = &Input{Sym: s, Bias: 0x1000}
		w.inits = s.UsedInits()
		p := eval.NewParser(w.arch)
		for _, rules := range s.Rules.Texts {
			w.rules = append(w.rules, p.Parse(nil, rules))
		}
		collect := func(lo, hi uint64) (list []string) {
			w.segments(lo, hi, func(x segment) { list = append(list, fmt.Sprint(x, len(w.state), w.state)) })
			return list
		}

		// The rows cover the records, and some code before and after them.
		for lo := uint64(0x10e0); lo < uint64(addr)+0x1020; {
			hi := lo + 1 + rng.Uint64N(12)
			got := collect(lo, hi)
			next := w.next
			w.next = position{}
			if want := collect(lo, hi); !slices.Equal(got, want) {
				t.Fatalf("%s[%#x, %#x):\n%q, want\n%q", text, lo, hi, got, want)
			}
			w.next = next
			if lo = hi; rng.IntN(9) == 0 {
				lo += 3
			}
		}
	}
}
