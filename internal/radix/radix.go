// Package radix sorts numbers, each of which stands for something with an index.
package radix

import "slices"

// Item is what Sort sorts by its key.
type Item struct {
	Key         uint64
	Index, Part int32 // of the caller
}

// Sort sorts list by key, with the memory of spare, and returns both. Items with one key stay in order. Digits that all
// keys share, as the upper ones of a program's addresses, cost no pass.
func Sort(list, spare []Item) (sorted, other []Item) {
	const digit = 11 // bits
	spare = slices.Grow(spare[:0], len(list))[:len(list)]
	for shift := 0; shift < 64 && len(list) > 1; shift += digit {
		var next [1 << digit]int32 // by digit: how many there are, then where the next one goes
		for i := range list {
			next[list[i].Key>>shift%(1<<digit)]++
		}
		if int(next[list[0].Key>>shift%(1<<digit)]) == len(list) {
			continue
		}
		from := int32(0)
		for i, n := range next {
			next[i] = from
			from += n
		}
		for _, item := range list {
			at := &next[item.Key>>shift%(1<<digit)]
			spare[*at] = item
			*at++
		}
		list, spare = spare, list
	}
	return list, spare
}
