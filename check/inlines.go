package check

import (
	"slices"

	"symkit/check/internal/pcs"
	"symkit/check/internal/symfile"
	"symkit/check/internal/truth/dwarfinfo"
	"symkit/check/report"
)

// inlines compares the inlined calls of FUNC i with those of function f.
func (w *worker) inlines(i int, s *dwarfinfo.Scan, f *dwarfinfo.Func, t *dwarfinfo.Lines) {
	r := w.r
	if w.settled(&r.inlines[i]) || r.exhausted(report.CheckInlines) {
		return
	}
	var ok bool
	w.calls, ok = w.truthCalls(w.calls[:0], s, f, &r.s.Funcs[i], t)
	if !ok {
		r.hide(report.CheckInlines, noteTooOften)
		return
	}
	w.compareInlines(i, f.Inlines.Len(), uint64(f.Ref.Off))
}

// compareInlines compares the INLINE records of FUNC i with w.calls, which the function at offset
// from has. steps counts the steps of collecting w.calls.
func (w *worker) compareInlines(i, steps int, from uint64) {
	r := w.r
	w.symCalls = w.callsOf(&r.s.Funcs[i], w.symCalls[:0])
	r.spent.Add(int64(steps + len(w.calls) + len(w.symCalls)))
	o := w.compareCalls(w.symCalls, w.calls)
	o.from = from

	r.mu.Lock()
	defer r.mu.Unlock()
	r.inlines[i].better(o)
}

// truthCalls appends the inlined calls of f, clipped to sf and then by nest, to calls.
func (w *worker) truthCalls(calls []call, s *dwarfinfo.Scan, f *dwarfinfo.Func, sf *symfile.Func, t *dwarfinfo.Lines) ([]call, bool) {
	lo, hi := sf.Addr+w.r.bias, sf.End+w.r.bias
	depth := w.depths(s, f)
	for i := f.Inlines.From; i < f.Inlines.To; i++ {
		in := &s.Inlines[i]
		c := call{depth: depth(i), name: noName}
		for _, x := range s.Ranges[in.Ranges.From:in.Ranges.To] {
			c.lo, c.hi = max(x.Lo, lo), min(x.Hi, hi)
			if c.lo >= c.hi {
				continue
			}
			if c.name == noName {
				c.callLine, c.file = numberOf(uint32(min(in.CallLine, 1<<32-1))), t.File(in.CallFile)
				c.name = w.namer.ID(in.Origin)
			}
			calls = append(calls, c)
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
