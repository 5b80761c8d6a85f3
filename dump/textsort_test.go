package dump

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// textsOf are texts with beginnings in common that end at, before and behind the
// ends of keys; with zeros, some of them.
func textsOf(rnd *rand.Rand, n int) (texts []string) {
	parts := []string{"", "a", "b", "std::", "std::vector<int", "1234567", "12345678", "123456789", "\x00", "\x00\x00\x00\x00\x00\x00\x00\x00", "\xff"}
	for range n {
		text := ""
		for range rnd.IntN(6) {
			text += parts[rnd.IntN(len(parts))]
		}
		texts = append(texts, text)
	}
	return texts
}

// TestSortTexts: the order is that of the texts.
func TestSortTexts(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for round := range 500 {
		before := strings.Repeat("before", round%4)
		texts := textsOf(rnd, 1+round%60)
		list := make([]numbered, len(texts))
		for i := range texts {
			texts[i] = before + texts[i]
			list[i] = numbered{text: texts[i], id: uint32(i)}
		}
		sortTexts(list, len(before))
		for _, o := range list {
			if texts[o.id] != o.text {
				t.Fatalf("number %d is %q, not %q", o.id, texts[o.id], o.text)
			}
		}
		slices.Sort(texts)
		if !slices.EqualFunc(list, texts, func(o numbered, text string) bool { return o.text == text }) {
			t.Fatalf("round %d: not in the order of %q", round, texts)
		}
	}
}

func TestCommonPrefix(t *testing.T) {
	for a := range 40 {
		for b := range 40 {
			for differs := range min(a, b) + 1 {
				x, y := []byte(strings.Repeat("x", a)), []byte(strings.Repeat("x", b))
				if differs < min(a, b) {
					y[differs] = 'y'
				}
				if got := commonPrefix(x, y); got != differs {
					t.Fatalf("%q, %q: %d, want %d", x, y, got, differs)
				}
			}
		}
	}
}

// TestSortLargeGroups: the same on several goroutines, where most texts begin in the same
// way, for more than a key.
func TestSortLargeGroups(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for jobs := range 4 {
		d := &dumper{ctx: t.Context(), opt: Options{Jobs: jobs + 1}}
		var list []numbered
		for _, before := range []string{"", "std::__detail::", "std::__detail::_Map_base<", "z"} {
			for _, text := range textsOf(rnd, largeGroup+largeGroup/2) {
				list = append(list, numbered{text: before + text, id: uint32(len(list))})
			}
		}
		texts := make([]string, len(list))
		for i, o := range list {
			texts[i] = o.text
		}
		list, err := d.sortTexts(list, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range list {
			if texts[o.id] != o.text {
				t.Fatalf("number %d is %q, not %q", o.id, texts[o.id], o.text)
			}
		}
		slices.Sort(texts)
		if !slices.EqualFunc(list, texts, func(o numbered, text string) bool { return o.text == text }) {
			t.Fatalf("%d goroutines: not in order", jobs+1)
		}
	}
}
