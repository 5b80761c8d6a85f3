package diff

import (
	"slices"

	"symkit/check/internal/pcs"
)

// stretch is addresses about which a file says one thing.
type stretch struct {
	pcs.Range
	at    uint32 // line of the text
	index uint32 // of the record
}

// stretches returns those of the records of one class, in order of address. line returns a
// record's line of the text.
func stretches[T any, P pcs.Ranged[T]](records []T, line func(P) uint32) []stretch {
	out := make([]stretch, 0, len(records))
	for i := range records {
		r := P(&records[i])
		out = append(out, stretch{r.PCs(), line(r), uint32(i)})
	}
	return ordered(out)
}

// ordered sorts s and drops what is empty.
func ordered(s []stretch) []stretch {
	return pcs.Sorted(slices.DeleteFunc(s, func(x stretch) bool { return x.Lo >= x.Hi }))
}

// sweep calls f for every stretch of addresses on which neither side changes. The sides are
// ordered; where one overlaps itself the first stretch holds.
func sweep(a, b []stretch, f func(r pcs.Range, a, b *stretch)) {
	for pos := uint64(0); ; {
		a, b = skip(a, pos), skip(b, pos)
		if len(a) == 0 && len(b) == 0 {
			return
		}
		end := ^uint64(0)
		x, y := head(a, pos, &end), head(b, pos, &end)
		if x != nil || y != nil {
			f(pcs.Range{Lo: pos, Hi: end}, x, y)
		}
		pos = end
	}
}

// skip drops the stretches at the front of list that end at or below pos.
func skip(list []stretch, pos uint64) []stretch {
	for len(list) > 0 && list[0].Hi <= pos {
		list = list[1:]
	}
	return list
}

// head returns the first stretch if it holds at pos, and lowers end to where that changes.
func head(list []stretch, pos uint64, end *uint64) *stretch {
	switch {
	case len(list) == 0:
		return nil
	case list[0].Lo > pos:
		*end = min(*end, list[0].Lo)
		return nil
	}
	*end = min(*end, list[0].Hi)
	return &list[0]
}
