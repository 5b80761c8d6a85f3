package diff

import (
	"slices"

	"symkit/check/internal/pcs"
)

// stretch is a range of addresses that one record of a file describes.
type stretch struct {
	pcs.Range
	at    uint32 // line of the text
	index uint32 // of the record
}

// stretches returns the ranges of the records of one class, in order of address. line returns the
// line of text of a record.
func stretches[T any, P pcs.Ranged[T]](records []T, line func(P) uint32) []stretch {
	out := make([]stretch, 0, len(records))
	for i := range records {
		r := P(&records[i])
		out = append(out, stretch{r.PCs(), line(r), uint32(i)})
	}
	return ordered(out)
}

// ordered sorts s and drops empty ranges.
func ordered(s []stretch) []stretch {
	return pcs.Sorted(slices.DeleteFunc(s, func(x stretch) bool { return x.Lo >= x.Hi }))
}
