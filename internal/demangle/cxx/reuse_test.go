package cxx

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// text is Name with the text as a string.
func (r *Reader) text(name []byte) (string, bool) {
	text, _, ok := r.Name(name)
	if !ok {
		return "", false
	}
	return string(text), true
}

// sameAfter demangles name with d, which did others before, and compares that
// with what it is by itself.
func sameAfter(t *testing.T, d *Reader, name []byte) {
	t.Helper()
	last := string(d.tree.in)
	text, ok := d.text(name)
	if alone, aloneOK := new(Reader).text(name); text != alone || ok != aloneOK {
		t.Fatalf("%q after %q:\n got   %q, %v\n alone %q, %v", name, last, text, ok, alone, aloneOK)
	}
}

// TestAgain: names come out the same whatever was demangled before them, in
// any order and one made of the other.
func TestAgain(t *testing.T) {
	var list [][]byte
	rnd := rand.New(rand.NewPCG(5, 6))
	for _, test := range known {
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
		a, b := list[rnd.IntN(len(list))], list[rnd.IntN(len(known))]
		part := parts[rnd.IntN(len(parts))]
		list = append(list, slices.Concat(a[:2+rnd.IntN(len(a)-1)], []byte(part), b[2+rnd.IntN(len(b)-1):]))
	}
	var d Reader
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

// TestReuseParts: the common prefix of two names is read once.
func TestReuseParts(t *testing.T) {
	var d Reader
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
		if _, ok := d.text([]byte(test.in)); !ok {
			t.Errorf("%s: stays mangled", test.in)
		}
	}
}

// FuzzAgain: whatever came before a name, it comes out the same.
func FuzzAgain(f *testing.F) {
	for i, test := range known {
		f.Add([]byte(test.in), []byte(known[(i+1)%len(known)].in), uint16(len(test.in)/2))
	}
	f.Fuzz(func(t *testing.T, before, behind []byte, cut uint16) {
		var d Reader
		sameAfter(t, &d, before)
		sameAfter(t, &d, slices.Concat(before[:min(int(cut), len(before))], behind))
		sameAfter(t, &d, before)
	})
}
