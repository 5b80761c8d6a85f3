package compare

import (
	"math/rand/v2"
	"testing"
)

// TestAlign: every element is in one pair, pairs are equal and in order, and as many
// elements have a partner as the longest common subsequence has.
func TestAlign(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		a, b := make([]int, rnd.IntN(12)), make([]int, rnd.IntN(12))
		for i := range a {
			a[i] = rnd.IntN(4)
		}
		for i := range b {
			b[i] = rnd.IntN(4)
		}
		pairs := align(len(a), len(b), func(i int) int { return a[i] }, func(i int) int { return b[i] })
		if got, want := checkPairs(t, a, b, pairs), common(a, b); got != want {
			t.Fatalf("%v %v: %d pairs, want %d: %v", a, b, got, want, pairs)
		}
	}
}

// TestAlignMany: lists that differ in more than maxEdits elements.
func TestAlignMany(t *testing.T) {
	var a, b []int
	for i := range 3 * maxEdits {
		a, b = append(a, 2*i), append(b, 2*i+1)
		if i%100 == 0 {
			a, b = append(a, -i), append(b, -i)
		}
	}
	pairs := align(len(a), len(b), func(i int) int { return a[i] }, func(i int) int { return b[i] })
	if got := checkPairs(t, a, b, pairs); got != 3*maxEdits/100 {
		t.Errorf("%d pairs", got)
	}
}

// checkPairs returns the number of elements with a partner.
func checkPairs(t *testing.T, a, b []int, pairs []pair) (partners int) {
	t.Helper()
	i, j := 0, 0
	for _, p := range pairs {
		if p.a >= 0 {
			if p.a != i {
				t.Fatalf("%v %v: %v: not in order", a, b, pairs)
			}
			i++
		}
		if p.b >= 0 {
			if p.b != j {
				t.Fatalf("%v %v: %v: not in order", a, b, pairs)
			}
			j++
		}
		if p.a >= 0 && p.b >= 0 {
			if a[p.a] != b[p.b] {
				t.Fatalf("%v %v: %v: a pair is not equal", a, b, pairs)
			}
			partners++
		}
	}
	if i != len(a) || j != len(b) {
		t.Fatalf("%v %v: %v: elements are missing", a, b, pairs)
	}
	return partners
}

// common is the length of the longest common subsequence.
func common(a, b []int) int {
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	if a[0] == b[0] {
		return 1 + common(a[1:], b[1:])
	}
	return max(common(a[1:], b), common(a, b[1:]))
}
