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
	hasWant bool   // the ELF file has something there
}

// place is a source line; of an inlined call, also the name of the inlined function and the depth.
type place struct{ file, line, name, depth uint32 }

// missing reports whether the symbol file has no record for the range.
func (d *difference) missing() bool { return d.at == 0 }

// funcOutcome is the outcome of comparing one FUNC with one description of its code. Several units
// can describe the same code; the best outcome counts.
type funcOutcome struct {
	done     bool
	compared uint64 // PCs
	wrong    uint64 // those of compared that differ
	missing  uint64 // those of wrong for which the symbol file has no record
	unread   uint64 // those of compared with a call whose name is not known
	unsure   uint64 // those of unread with a call whose name is known, but no code here reads
	from     uint64 // offset of the description
	diffs    *differences
}

// differences are those of one FUNC.
type differences struct {
	list []difference
	more uint64 // differences that are not in list
}

// better replaces o by n if n has fewer wrong PCs, or as many and fewer PCs with unknown names. Of
// equal outcomes the one of the description that comes first in the file counts, so that the order
// of the goroutines has no effect.
func (o *funcOutcome) better(n funcOutcome) {
	order := cmp.Or(cmp.Compare(n.wrong, o.wrong), cmp.Compare(n.unread, o.unread), cmp.Compare(n.from, o.from))
	if !o.done || order < 0 {
		n.done = true
		*o = n
	}
}

// right reports whether no other description can be better.
func (o *funcOutcome) right() bool { return o.done && o.wrong == 0 && o.unread == 0 }

// mostDiffs returns how many differences are kept of each FUNC of a file with funcs of them. All
// differences are counted.
func mostDiffs(funcs int) int { return min(max(1<<19/max(funcs, 1), 1), 1<<12) }

// add counts d in o, and keeps it if the bound allows.
func (r *replay) add(o *funcOutcome, d difference) {
	o.wrong += d.hi - d.lo
	if d.missing() {
		o.missing += d.hi - d.lo
	}
	if o.diffs == nil {
		o.diffs = &differences{}
	}
	if len(o.diffs.list) < r.mostDiffs {
		o.diffs.list = append(o.diffs.list, d)
	} else {
		o.diffs.more++
	}
}

// compareLines compares the line records of f with runs. The first run may begin below f.
func (w *worker) compareLines(f *symfile.Func, runs []dwarfinfo.Run) (o funcOutcome) {
	r := w.r
	r.s.Read(f, &w.body)
	lines := w.body.ByAddress()
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

// toELF converts addresses of the symbol file to addresses of the ELF file.
func (r *replay) toELF(x pcs.Range) pcs.Range { return pcs.Range{Lo: x.Lo + r.bias, Hi: x.Hi + r.bias} }

// compareLine compares the line record with the run for the addresses x of the ELF file; either may
// be nil.
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

// describeLine describes a difference of lines in words.
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

// numberOf returns the line number that a symbol file has for line: 0 for a number that consumers
// cannot hold.
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
	name           uint32 // number in naming.Table; of a record, the index of its INLINE_ORIGIN
	at             uint32 // line of the symbol file
}

// sortCalls sorts calls by depth and address; calls that have both in common stay in their order.
func (w *worker) sortCalls(calls []call) {
	w.keys.Reset()
	for i := range calls {
		w.keys.Add(calls[i].depth, calls[i].lo)
	}
	keys, moved := w.keys.Sorted()
	if !moved {
		return
	}

	w.unsorted = append(w.unsorted[:0], calls...)
	for i := range keys {
		calls[i] = w.unsorted[keys[i].Index]
	}
}

// callsOf appends the calls of f's INLINE records, clipped to f, to calls.
func (w *worker) callsOf(f *symfile.Func, calls []call) []call {
	r := w.r
	r.s.Read(f, &w.body)
	for i := range w.body.Inlines {
		in := &w.body.Inlines[i]
		origin, _ := r.s.Origins.Index(in.Origin)
		for _, x := range w.body.RangesOf(in) {
			lo, hi := max(x.Addr, f.Addr), min(x.Addr+uint64(x.Size), f.End)
			if lo < hi {
				calls = append(calls, call{in.Depth, lo + r.bias, hi + r.bias, in.CallLine, r.symFiles[r.fileIndex(in.CallFile)], origin, in.At})
			}
		}
	}
	w.sortCalls(calls)
	return calls
}

// compareCalls compares two sorted lists of calls, depth by depth.
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

// level returns the number of calls of one depth at the front of calls.
func level(calls []call, depth uint32) int {
	n := 0
	for n < len(calls) && calls[n].depth == depth {
		n++
	}
	return n
}

// compareLevel compares the calls of one depth, PC by PC. Where calls of the DWARF overlap, each of
// them is right.
func (w *worker) compareLevel(o *funcOutcome, have, want []call) {
	// Mostly both sides have the same ranges, which do not overlap.
	for len(have) > 0 && len(want) > 0 && have[0].lo == want[0].lo && have[0].hi == want[0].hi && alone(have) && alone(want) {
		w.have, w.want = append(w.have[:0], have[0]), append(w.want[:0], want[0])
		o.compared += have[0].hi - have[0].lo
		w.compareCall(o, have[0].lo, have[0].hi)
		have, want = have[1:], want[1:]
	}
	if len(have)+len(want) == 0 {
		return
	}

	w.borders = w.borders[:0]
	for _, calls := range [][]call{have, want} {
		for i := range calls {
			w.borders = append(w.borders, calls[i].lo, calls[i].hi)
		}
	}
	slices.Sort(w.borders)
	w.borders = slices.Compact(w.borders)

	// Between two borders the same calls are active on both sides.
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

// alone reports whether the first of calls, which are in order of address, has a range that does not
// overlap with others.
func alone(calls []call) bool {
	return calls[0].lo < calls[0].hi && (len(calls) == 1 || calls[1].lo >= calls[0].hi)
}

// maxActive bounds the calls of one depth that overlap and are compared.
const maxActive = 64

// advance moves the calls that begin at or below pos from calls to active, and drops those of
// active that end at or below pos.
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

// compareCall compares the calls that are active in [lo, hi). One pair of calls that agree
// suffices.
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
	case callUnsure:
		o.unread += hi - lo
		o.unsure += hi - lo
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

// describeCall describes a difference of inlined calls in words.
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

// likeness is how well a record matches a call of the DWARF.
type likeness uint8

const (
	callDiffers likeness = iota
	callUnread           // all but the function's name, which is not known, agrees
	callUnsure           // the same, and the name, which no code here reads, may be right
	callSame
)

// likeness compares one record with one call of the DWARF.
func (w *worker) likeness(have, want *call) likeness {
	if have.callLine != want.callLine || !naming.SameFile(have.file, want.file) {
		return callDiffers
	}

	// Few pairs of names occur, each of them often: the answer is cached. Mostly all calls with one
	// record's name have one name of the DWARF, whose answer is in matches, for all workers.
	match := &w.r.matches[have.name]
	if m := match.Load(); m&matchKnown != 0 && uint32(m>>32) == want.name {
		return likeness(m & matchLikeness)
	}
	key := uint64(have.name)<<32 | uint64(want.name)
	same, ok := w.same[key]
	if !ok {
		same = w.nameLikeness(have.name, want.name)
		w.same[key] = same
	}
	match.Store(uint64(want.name)<<32 | matchKnown | uint64(same))
	return same
}

// An element of replay.matches has the number of a name of the DWARF in its upper half, the likeness
// of an INLINE_ORIGIN and this name in its lowest bits, and matchKnown.
const (
	matchLikeness = 1<<4 - 1
	matchKnown    = 1 << 4
)

// nameLikeness compares the name of an INLINE_ORIGIN with a name of the DWARF.
func (w *worker) nameLikeness(have, want uint32) likeness {
	names, text := w.r.names, w.r.s.Origins.List[have].Text
	switch names.Judge(want, naming.OriginName(string(text))) {
	case naming.Right:
		return callSame
	case naming.Unverified:
		if names.Unread(want) {
			return callUnread
		}
		return callUnsure
	}
	return callDiffers
}
