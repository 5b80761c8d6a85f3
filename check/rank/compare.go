package rank

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"symkit/internal/quantity"
)

// figure is one figure of two files, and the points of a unit of it. A frame is worth most if its function is known
// and the walk goes on from there; docs/design.md has the reasons.
type figure struct {
	noun   string
	a, b   uint64
	points int64
	size   bool // in bytes
	// text has the subjects 1 and 2, their figures 3 and 4, and the size of the code 5.
	text string
}

// figures returns the figures of two files. The first one decides between files of equal points.
func figures(a, b Rank) []figure {
	return []figure{
		{"functions", a.FunctionBytes, b.FunctionBytes, 3, true, "%[1]s has functions for %[3]s of code, %[2]s for %[4]s"},
		{"names of functions", a.NamedBytes, b.NamedBytes, 1, true, "%[1]s has names of functions for %[3]s of %[5]s of code, %[2]s for %[4]s"},
		{"lines", a.LineBytes, b.LineBytes, 3, true, "%[1]s has lines for %[3]s of %[5]s of code, %[2]s for %[4]s"},
		{"lines", a.LineRows, b.LineRows, 1, false, "%[1]s has %[3]s rows of lines, %[2]s %[4]s"},
		{"inlined calls", a.InlineBytes, b.InlineBytes, 1, true, "%[1]s has inlined calls in %[3]s of %[5]s of code, %[2]s in %[4]s"},
		{"inlined calls", a.InlineRanges, b.InlineRanges, 1, false, "%[1]s has %[3]s stretches of inlined calls, %[2]s %[4]s"},
		{"unwind rules", a.RuleBytes, b.RuleBytes, 3, true, "%[1]s has unwind rules for %[3]s of code, %[2]s for %[4]s"},
		{"public symbols", a.Publics, b.Publics, 32, false, "%[1]s has %[3]s symbols outside of functions, %[2]s %[4]s"},
	}
}

// mostUnits bounds each figure, so that no sum of points exceeds 64 bits.
const mostUnits = 1 << 56

// gain returns the points that the first file has more than the second.
func (f figure) gain() int64 {
	return f.points * (int64(min(f.a, mostUnits)) - int64(min(f.b, mostUnits)))
}

// Compare returns 1 if r is of the better file, -1 if o is, and 0 if neither is. Of several files the same one is the
// best in whatever order they are compared. The sentence says why, for r as "this file" and o as "the other file"; it
// has no full stop.
func (r Rank) Compare(o Rank) (sign int, why string) {
	points := int64(0)
	all := figures(r, o)
	for _, f := range all {
		points += f.gain()
	}
	for _, f := range all {
		points = cmp.Or(points, f.gain())
	}

	switch {
	case points > 0:
		return 1, reason(all, r, o, "this file", "the other one")
	case points < 0:
		return -1, reason(figures(o, r), r, o, "the other file", "this one")
	}
	return 0, "neither file has more functions, lines, inlined calls, unwind rules or symbols than the other one"
}

// reason names the figure that speaks most for the better file, the first one, and that which speaks most for the
// worse one, if there is any.
func reason(all []figure, r, o Rank, better, worse string) string {
	byGain := func(a, b figure) int { return cmp.Compare(a.gain(), b.gain()) }
	most, least := slices.MaxFunc(all, byGain), slices.MinFunc(all, byGain)

	a, b := most.shown()
	code := quantity.Bytes(max(r.FunctionBytes, o.FunctionBytes))
	why := fmt.Sprintf(most.text, better, worse, a, b, code)
	if least.gain() < 0 && least.noun != most.noun {
		why += fmt.Sprintf(", although %s has more %s", worse, least.noun)
	}
	return why
}

// shown returns both figures. Sizes that look alike are exact.
func (f figure) shown() (a, b string) {
	if !f.size {
		return quantity.Number(f.a), quantity.Number(f.b)
	}
	a, b = quantity.Bytes(f.a), quantity.Bytes(f.b)
	if a == b {
		a, b = quantity.Count(f.a, "byte", "bytes"), quantity.Count(f.b, "byte", "bytes")
	}
	return a, b
}

// Better reports whether a symbol file is to take the place of the stored one of its module, and says why. A stored file
// that is as good stays; one that cannot be read does not. The error is that of ctx.
func Better(ctx context.Context, sent, stored []byte) (better bool, why string, err error) {
	ours, err := Of(ctx, sent)
	if err != nil {
		return false, "the symbol file in the store stays: this one cannot be read", context.Cause(ctx)
	}
	theirs, err := Of(ctx, stored)
	if err != nil {
		return ctx.Err() == nil, "the symbol file in the store cannot be read", context.Cause(ctx)
	}
	sign, why := ours.Compare(theirs)
	switch {
	case sign > 0:
		return true, "better than the symbol file in the store: " + why, nil
	case sign < 0:
		return false, "the symbol file in the store is better, and stays: " + why, nil
	}
	return false, "the symbol file in the store is as good, and stays", nil
}
