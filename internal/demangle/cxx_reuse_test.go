package demangle

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// sameAfter demangles name with d, which did others before, and compares that
// with what it is by itself.
func sameAfter(t *testing.T, d *Demangler, name []byte) {
	t.Helper()
	last := string(d.tree.in)
	text, ok := d.cxx(name)
	if alone, aloneOK := new(Demangler).cxx(name); text != alone || ok != aloneOK {
		t.Fatalf("%q after %q:\n got   %q, %v\n alone %q, %v", name, last, text, ok, alone, aloneOK)
	}
}

// TestCxxAgain: names come out the same whatever was demangled before them, in
// any order and one made of the other.
func TestCxxAgain(t *testing.T) {
	var list [][]byte
	rnd := rand.New(rand.NewPCG(5, 6))
	for _, test := range cxxKnown {
		list = append(list, []byte(test.in))
	}
	args := strings.Fields("i Lm8E Lb1E LDnE Ln3E L1e2E 1b 1cIiE St6vectorIiSaIiEE JE JicE JJEE PFvvE Z1fvE1x Z1fiEN1dIiE1eE S_ S1_ KS0_ UlvE_ XadL_Z1gvEE")
	for range 1000 {
		name := []byte("_ZN1aI")
		for range 8 {
			name = append(name, args[rnd.IntN(len(args))]...)
		}
		list = append(list, append(name, "E1fEv"...), append(name[:len(name):len(name)], "E1gIJEE1hIcEEvv"...))
	}
	for range 1000 {
		a, b := list[rnd.IntN(len(list))], list[rnd.IntN(len(cxxKnown))]
		part := cxxParts[rnd.IntN(len(cxxParts))]
		list = append(list, slices.Concat(a[:2+rnd.IntN(len(a)-1)], []byte(part), b[2+rnd.IntN(len(b)-1):]))
	}
	var d Demangler
	for _, name := range list {
		sameAfter(t, &d, name)
	}
	slices.SortFunc(list, slices.Compare)
	shared := 0
	for _, name := range list {
		sameAfter(t, &d, name)
		shared += len(d.tree.parts)
	}
	if shared < len(list)/4 {
		t.Errorf("%d names had %d parts to find again", len(list), shared)
	}
}

// TestCxxReuseParts: the common prefix of two names is read once.
func TestCxxReuseParts(t *testing.T) {
	var d Demangler
	for _, test := range []struct {
		in   string
		want int // parts found
	}{
		{"_ZN1aI1bIiE1cIcEE1fEv", 0},
		{"_ZN1aI1bIiE1cIcEE1gEv", 5},     // all of a's arguments, and those in them
		{"_ZN1aI1bIiE1cIdEE1gEv", 2},     // b<int>
		{"_ZN1aI1bIiE1cIdEEC1ERKS4_", 4}, // but not those of a, which continue differently
		{"_ZN2aaI1bIiEE1gEv", 0},
	} {
		d.tree.reset([]byte(test.in[2:]), scopeUnknown)
		if got := len(d.tree.parts); got != test.want {
			t.Errorf("%s: %d parts", test.in, got)
		}
		if _, ok := d.cxx([]byte(test.in)); !ok {
			t.Errorf("%s: stays mangled", test.in)
		}
	}
}

// FuzzCxxAgain: whatever came before a name, it comes out the same.
func FuzzCxxAgain(f *testing.F) {
	for i, test := range cxxKnown {
		f.Add([]byte(test.in), []byte(cxxKnown[(i+1)%len(cxxKnown)].in), uint16(len(test.in)/2))
	}
	f.Fuzz(func(t *testing.T, before, behind []byte, cut uint16) {
		var d Demangler
		sameAfter(t, &d, before)
		sameAfter(t, &d, slices.Concat(before[:min(int(cut), len(before))], behind))
		sameAfter(t, &d, before)
	})
}
