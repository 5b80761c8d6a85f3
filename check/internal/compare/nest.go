package compare

import (
	"slices"

	"symkit/check/internal/pcs"
	"symkit/check/internal/symfile"
	"symkit/check/internal/truth"
	"symkit/check/internal/truth/dwarfinfo"
)

// truthCalls appends the inlined calls of f, clipped to sf and then by nest, to calls.
func (w *worker) truthCalls(calls []call, u *truth.Unit, f *dwarfinfo.Func, sf *symfile.Func) ([]call, bool) {
	lo, hi := sf.Addr+w.in.Bias, sf.End+w.in.Bias
	depth := w.depths(u.Scan, f)
	for i := f.Inlines.From; i < f.Inlines.To; i++ {
		in := &u.Inlines[i]
		c := call{depth: depth(i), callLine: numberOf(uint32(min(in.CallLine, 1<<32-1))), file: u.Lines.File(in.CallFile), name: in.Name}
		for _, x := range u.Ranges[in.Ranges.From:in.Ranges.To] {
			c.lo, c.hi = max(x.Lo, lo), min(x.Hi, hi)
			if c.lo < c.hi {
				calls = append(calls, c)
			}
		}
	}
	w.sortCalls(calls)
	var ok bool
	w.nested, ok = w.nest(w.nested[:0], calls)
	return append(calls[:0], w.nested...), ok
}

// maxParts and fewParts bound the parts of all calls of a function: maxParts for each call on
// average, and fewParts more. A call of one range may have a part in each range of the call around
// it.
const maxParts, fewParts = 16, 1 << 12

// nest clips calls to the calls one level up: a part outside of these has no caller. (DWARF 2 has
// no ranges: gcc gives a call one range of several there, and not the same part to the calls in
// it.) calls are sorted. nest returns false if each of many calls overlaps each of many others,
// which no compiler writes. The result is appended to out.
func (w *worker) nest(out, calls []call) ([]call, bool) {
	limit := maxParts*len(calls) + fewParts
	var above pcs.Set // the PCs of the level above
	for k := 0; len(calls) > 0; k = 1 - k {
		// own becomes the level above for the next level, whose memory is used again.
		n := level(calls, calls[0].depth)
		parts := countParts(calls[:n], above, limit-len(out))
		if len(out)+parts > limit {
			return nil, false
		}
		out = slices.Grow(out, parts)
		own := slices.Grow(w.levels[k][:0], parts)
		for _, c := range calls[:n] {
			if c.depth == 0 {
				out, own = append(out, c), append(own, pcs.Range{Lo: c.lo, Hi: c.hi})
				continue
			}
			for i := above.Find(c.lo); i < len(above) && above[i].Lo < c.hi; i++ {
				part := c
				part.lo, part.hi = max(c.lo, above[i].Lo), min(c.hi, above[i].Hi)
				out, own = append(out, part), append(own, pcs.Range{Lo: part.lo, Hi: part.hi})
			}
		}
		w.levels[k] = own
		above, calls = pcs.Union(own), calls[n:]
	}
	return out, true
}

// countParts returns the number of parts that the calls of one level have in the ranges above, or
// any number above most if there are more: they take no memory then.
func countParts(calls []call, above pcs.Set, most int) (n int) {
	for _, c := range calls {
		if c.depth == 0 {
			n++
			continue
		}
		for i := above.Find(c.lo); i < len(above) && above[i].Lo < c.hi && n <= most; i++ {
			n++
		}
	}
	return n
}
