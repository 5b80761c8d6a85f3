package dump

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"
)

// numbered is a text with a number. The texts of names have long beginnings in
// common, so sorting them compares eight bytes at a time behind what is known to
// be the same.
type numbered struct {
	text string
	key  uint64 // eight bytes of text, as a number that is in the order of the text
	id   uint32
}

// keyBytes is how many bytes of a text a key has.
const keyBytes = 8

// keyAt is the key of the bytes from depth on, zeros behind the end.
func keyAt(text string, depth int) (key uint64) {
	if len(text)-depth >= keyBytes {
		return binary.BigEndian.Uint64([]byte(text[depth:][:keyBytes]))
	}
	var last [keyBytes]byte
	copy(last[:], text[depth:])
	return binary.BigEndian.Uint64(last[:])
}

func byKey(a, b numbered) int { return cmp.Compare(a.key, b.key) }

// equalKeys returns how many at the beginning of list have the same key.
func equalKeys(list []numbered) int {
	n := 1
	for n < len(list) && list[n].key == list[0].key {
		n++
	}
	return n
}

// parts cuts a list into one part for each goroutine.
func (d *dumper) parts(list []numbered) [][]numbered {
	return slices.Collect(slices.Chunk(list, len(list)/max(d.opt.Jobs, 1)+1))
}

// largeGroup is how many texts with the same beginning are not sorted by one goroutine.
const largeGroup = 1 << 13

// sortTexts sorts texts that have their first depth bytes in common, on all goroutines:
// by the key there, each a part, then those that have the same one, the largest groups of
// them in the same way.
func (d *dumper) sortTexts(list []numbered, depth int) ([]numbered, error) {
	parts := d.parts(list)
	err := d.each(len(parts), func() func(int) error {
		return func(i int) error {
			for k := range parts[i] {
				parts[i][k].key = keyAt(parts[i][k].text, depth)
			}
			slices.SortFunc(parts[i], byKey)
			return nil
		}
	})
	if err != nil {
		return nil, err
	}
	list = mergeAll(parts, byKey)
	var same [][]numbered
	for rest := list; len(rest) > 0; {
		group := rest[:equalKeys(rest)]
		rest = rest[len(group):]
		if len(group) < largeGroup || group[0].key&0xff == 0 {
			same = append(same, group)
			continue
		}
		behind := depth + keyBytes
		sorted, err := d.sortTexts(group, behind+common(group, behind))
		if err != nil {
			return nil, err
		}
		copy(group, sorted)
	}
	slices.SortFunc(same, func(a, b []numbered) int { return cmp.Compare(len(b), len(a)) })
	return list, d.each(len(same), func() func(int) error {
		return func(i int) error {
			sortSame(same[i], depth)
			return nil
		}
	})
}

// sortTexts does so on one goroutine.
func sortTexts(list []numbered, depth int) {
	depth += common(list, depth)
	for i := range list {
		list[i].key = keyAt(list[i].text, depth)
	}
	slices.SortFunc(list, byKey)
	for len(list) > 0 {
		n := equalKeys(list)
		sortSame(list[:n], depth)
		list = list[n:]
	}
}

// sortSame sorts texts that have the same key at depth, and what is before it.
func sortSame(list []numbered, depth int) {
	switch {
	case len(list) == 1:
	case list[0].key&0xff != 0:
		sortTexts(list, depth+keyBytes)
	default: // a text ends there, or has a zero
		slices.SortFunc(list, func(a, b numbered) int { return cmp.Compare(a.text[depth:], b.text[depth:]) })
	}
}

// common returns how many bytes from depth on are the same in all texts.
func common(list []numbered, depth int) int {
	first := []byte(list[0].text[depth:])
	for i := range list[1:] {
		first = first[:commonPrefix(first, []byte(list[i+1].text[depth:]))]
		if len(first) == 0 {
			break
		}
	}
	return len(first)
}

// commonPrefix returns how many bytes at the beginning of a and b are the same.
func commonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	a, b = a[:n], b[:n]
	i := 0
	for ; n-i >= 8; i += 8 {
		if x := binary.LittleEndian.Uint64(a[i:]) ^ binary.LittleEndian.Uint64(b[i:]); x != 0 {
			return i + bits.TrailingZeros64(x)/8
		}
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}
