package check

import (
	"cmp"
	"fmt"
	"slices"

	"symkit/check/internal/naming"
	"symkit/check/internal/pcs"
	"symkit/check/internal/symfile"
	"symkit/check/internal/truth/dwarfinfo"
)

// difference is a range of addresses of the ELF file, [lo, hi), for which the symbol file and the
// ELF file differ.
type difference struct {
	lo, hi  uint64
	at      uint32 // line of the symbol file, 0 for a missing record
	want    place  // what the ELF file has
	hasWant bool   // whether the ELF file has anything there
}

// place is a line of a file and, of an inlined call, what is called there.
type place struct{ file, line, name, depth uint32 }

// missing reports whether the symbol file says nothing.
func (d *difference) missing() bool { return d.at == 0 }

// funcOutcome is the outcome of comparing one FUNC with one description of
// its code. Several units can describe the same code; the best one counts.
type funcOutcome struct {
	done     bool
	compared uint64 // PCs
	wrong    uint64
	missing  uint64 // of those that are wrong, PCs that the symbol file says nothing of
	unread   uint64 // of those compared, PCs with a call whose name is not known
	diffs    []difference
	more     uint64 // differences that are not in diffs
}

// better keeps the outcome with fewer wrong PCs, then with more that are sure.
func (o *funcOutcome) better(n funcOutcome) {
	if !o.done || n.wrong < o.wrong || n.wrong == o.wrong && n.unread < o.unread {
		n.done = true
		*o = n
	}
}

// right reports whether no other description can be better.
func (o *funcOutcome) right() bool { return o.done && o.wrong == 0 && o.unread == 0 }

// mostDiffs bounds the differences kept of one FUNC, of a file with so many; all are counted.
func mostDiffs(funcs int) int { return min(max(1<<20/max(funcs, 1), 1<<5), 1<<12) }

func (r *replay) add(o *funcOutcome, d difference) {
	o.wrong += d.hi - d.lo
	if d.missing() {
		o.missing += d.hi - d.lo
	}
	if len(o.diffs) < r.mostDiffs {
		o.diffs = append(o.diffs, d)
	} else {
		o.more++
	}
}

// compareLines compares the line records of f with runs, which begin at or
// below f.
func (r *replay) compareLines(f *symfile.Func, runs []dwarfinfo.Run) (o funcOutcome) {
	lines := r.s.LinesOf(f)
	steps := 1 + int64(len(lines)) // a comparison without any record has a cost as well
	own := func(l *symfile.Line) pcs.Range { return r.toELF(l.PCs()) }
	pcs.Sweep(r.toELF(f.PCs()), lines, own, runs, (*dwarfinfo.Run).PCs, func(x pcs.Range, have *symfile.Line, want *dwarfinfo.Run) {
		steps++
		if have != nil || want != nil {
			o.compared += x.Hi - x.Lo
			r.compareLine(&o, x, have, want)
		}
	})
	r.spent.Add(steps)
	return o
}

// toELF turns addresses of the symbol file into those of the ELF file.
func (r *replay) toELF(x pcs.Range) pcs.Range { return pcs.Range{Lo: x.Lo + r.bias, Hi: x.Hi + r.bias} }

// compareLine compares what both sides have for x, addresses of the ELF file.
func (r *replay) compareLine(o *funcOutcome, x pcs.Range, have *symfile.Line, want *dwarfinfo.Run) {
	if have != nil && want != nil && have.Line == numberOf(want.Line) &&
		naming.SameFile(r.symFiles[r.fileIndex(have.File)], want.File) {
		return
	}

	d := difference{lo: x.Lo, hi: x.Hi}
	if have != nil {
		d.at = have.At
	}
	if want != nil {
		d.want, d.hasWant = place{file: want.File, line: want.Line}, true
	}
	r.add(o, d)
}

// describeLine says a difference of lines in words.
func (r *replay) describeLine(d *difference) string {
	what := fmt.Sprintf("[%#x, %#x)", d.lo-r.bias, d.hi-r.bias)
	if !d.hasWant {
		return what + ": the line table has no row here"
	}
	if d.missing() {
		what = "no line record for " + what
	}
	return fmt.Sprintf("%s: the line table says %s:%d", what, r.paths.Name(d.want.file), d.want.line)
}

// numberOf is what is written for a number: one that consumers cannot hold
// becomes 0.
func numberOf(line uint32) uint32 {
	if line > 1<<31-1 {
		return 0
	}
	return line
}

// call is an inlined call over [lo, hi), addresses of the ELF file.
type call struct {
	depth          uint32
	lo, hi         uint64
	callLine, file uint32
	name           uint32 // of naming.Table; in the symbol file the index of the origin
	at             uint32 // line of the symbol file
}

func sortCalls(calls []call) {
	slices.SortStableFunc(calls, func(a, b call) int {
		return cmp.Or(cmp.Compare(a.depth, b.depth), cmp.Compare(a.lo, b.lo))
	})
}

// symCalls collects the INLINE records of f, clipped to it.
func (r *replay) symCalls(f *symfile.Func, calls []call) []call {
	for _, in := range r.s.InlinesOf(f) {
		origin, _ := r.s.Origins.Index(in.Origin)
		for _, x := range r.s.RangesOf(&in) {
			lo, hi := max(x.Addr, f.Addr), min(x.Addr+uint64(x.Size), f.End)
			if lo < hi {
				calls = append(calls, call{in.Depth, lo + r.bias, hi + r.bias, in.CallLine, r.symFiles[r.fileIndex(in.CallFile)], origin, in.At})
			}
		}
	}
	sortCalls(calls)
	return calls
}

// compareCalls compares two lists of calls level by level. Both are sorted.
func (w *worker) compareCalls(have, want []call) (o funcOutcome) {
	for len(have) > 0 || len(want) > 0 {
		depth := ^uint32(0)
		if len(have) > 0 {
			depth = have[0].depth
		}
		if len(want) > 0 {
			depth = min(depth, want[0].depth)
		}
		a, b := level(have, depth), level(want, depth)
		w.compareLevel(&o, have[:a], want[:b])
		have, want = have[a:], want[b:]
	}
	return o
}

// level is the number of calls of one depth at the front.
func level(calls []call, depth uint32) int {
	n := 0
	for n < len(calls) && calls[n].depth == depth {
		n++
	}
	return n
}

// compareLevel compares the calls of one depth, PC by PC. Where the DWARF has
// calls that overlap, each of them is right.
func (w *worker) compareLevel(o *funcOutcome, have, want []call) {
	w.borders = w.borders[:0]
	for _, calls := range [][]call{have, want} {
		for i := range calls {
			w.borders = append(w.borders, calls[i].lo, calls[i].hi)
		}
	}
	slices.Sort(w.borders)
	w.borders = slices.Compact(w.borders)
	w.have, w.want = w.have[:0], w.want[:0]
	for i := 0; i+1 < len(w.borders); i++ {
		lo, hi := w.borders[i], w.borders[i+1]
		have, w.have = advance(have, w.have, lo)
		want, w.want = advance(want, w.want, lo)
		if len(w.have)+len(w.want) > 0 {
			o.compared += hi - lo
			w.compareCall(o, lo, hi)
		}
	}
}

// maxActive bounds the calls of one depth that overlap and are compared.
const maxActive = 64

// advance moves the calls that begin at or below pos to active, and drops
// those of active that end there.
func advance(calls, active []call, pos uint64) (rest, now []call) {
	now = active[:0]
	for _, c := range active {
		if c.hi > pos {
			now = append(now, c)
		}
	}
	for len(calls) > 0 && calls[0].lo <= pos {
		if calls[0].hi > pos && len(now) < maxActive {
			now = append(now, calls[0])
		}
		calls = calls[1:]
	}
	return calls, now
}

// compareCall compares the calls that hold in [lo, hi).
func (w *worker) compareCall(o *funcOutcome, lo, hi uint64) {
	r := w.r
	best := callDiffers
	for i := range w.have {
		for k := range w.want {
			best = max(best, w.likeness(&w.have[i], &w.want[k]))
		}
	}
	switch best {
	case callSame:
		return
	case callUnread:
		o.unread += hi - lo
		return
	}

	d := difference{lo: lo, hi: hi, hasWant: len(w.want) > 0}
	if len(w.have) > 0 {
		d.at, d.want.depth = w.have[0].at, w.have[0].depth
	}
	if d.hasWant {
		c := &w.want[0]
		d.want = place{c.file, c.callLine, c.name, c.depth}
	}
	r.add(o, d)
}

// describeCall says a difference of inlined calls in words.
func (r *replay) describeCall(d *difference) string {
	what := fmt.Sprintf("[%#x, %#x)", d.lo-r.bias, d.hi-r.bias)
	if !d.hasWant {
		return fmt.Sprintf("%s: the %s has no inlined call at depth %d here", what, r.source, d.want.depth)
	}
	call := fmt.Sprintf("%s called from %s:%d", r.names.Text(d.want.name), r.paths.Name(d.want.file), d.want.line)
	if d.missing() {
		return fmt.Sprintf("no INLINE for %s at depth %d: %s", what, d.want.depth, call)
	}
	return fmt.Sprintf("%s: the %s says %s", what, r.source, call)
}

// likeness is how far a record is the call that the DWARF has.
type likeness uint8

const (
	callDiffers likeness = iota
	callUnread           // but for the function's name, which is not known, it is
	callSame
)

func (w *worker) likeness(have, want *call) likeness {
	if have.callLine != want.callLine || !naming.SameFile(have.file, want.file) {
		return callDiffers
	}
	key := uint64(have.name)<<32 | uint64(want.name)
	same, ok := w.same[key]
	if !ok {
		names := w.r.names
		switch {
		case names.Accept(want.name, w.r.origins[have.name]):
			same = callSame
		case names.Unread(want.name):
			same = callUnread
		}
		w.same[key] = same
	}
	return same
}
