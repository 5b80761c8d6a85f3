package compare

import (
	"fmt"
	"slices"

	"symkit/check/internal/naming"
	"symkit/check/internal/symfile"
)

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

// compareInlines compares the INLINE records of FUNC i with w.calls, which the function at offset
// from has. steps counts the steps of collecting w.calls.
func (w *worker) compareInlines(i, steps int, from uint64) {
	w.symCalls = w.callsOf(&w.in.Sym.Funcs[i], w.symCalls[:0])
	w.spend(int64(steps + len(w.calls) + len(w.symCalls)))
	o := w.compareCalls(w.symCalls, w.calls)
	o.from = from
	if o.right() {
		w.in.work.set(i, callsRight)
	}
	w.out.calls.add(funcOutcome{i, o})
}

// callsOf appends the calls of f's INLINE records, clipped to f, to calls.
func (w *worker) callsOf(f *symfile.Func, calls []call) []call {
	in := w.in
	in.Sym.Read(f, &w.body)
	for i := range w.body.Inlines {
		record := &w.body.Inlines[i]
		origin, _ := in.Sym.Origins.Index(record.Origin)
		for _, x := range w.body.RangesOf(record) {
			lo, hi := max(x.Addr, f.Addr), min(x.Addr+uint64(x.Size), f.End)
			if lo < hi {
				calls = append(calls, call{record.Depth, lo + in.Bias, hi + in.Bias, record.CallLine, in.symFiles[in.fileIndex(record.CallFile)], origin, record.At})
			}
		}
	}
	w.sortCalls(calls)
	return calls
}

// compareCalls compares two sorted lists of calls, depth by depth.
func (w *worker) compareCalls(have, want []call) (o outcome) {
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
func (w *worker) compareLevel(o *outcome, have, want []call) {
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
func (w *worker) compareCall(o *outcome, lo, hi uint64) {
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
	o.add(d, w.in.mostDiffs)
}

// describeCall describes a difference from the inlined calls of source in words.
func (in *Input) describeCall(d *difference, source string) string {
	what := fmt.Sprintf("[%#x, %#x)", d.lo-in.Bias, d.hi-in.Bias)
	if !d.hasWant {
		return fmt.Sprintf("%s: the %s has no inlined call at depth %d here", what, source, d.want.depth)
	}

	call := fmt.Sprintf("%s called from %s:%d", in.Truth.Names.Text(d.want.name), in.Truth.Paths.Name(d.want.file), d.want.line)
	if d.missing() {
		return fmt.Sprintf("no INLINE for %s at depth %d: %s", what, d.want.depth, call)
	}
	return fmt.Sprintf("%s: the %s says %s", what, source, call)
}

// likeness compares one record with one call of the DWARF.
func (w *worker) likeness(have, want *call) likeness {
	if have.callLine != want.callLine || !naming.SameFile(have.file, want.file) {
		return callDiffers
	}

	// Few pairs of names occur, each of them often: the answer is cached. Mostly all calls with one
	// record's name have one name of the DWARF, whose answer is in matches, for all workers.
	match := &w.in.work.matches[have.name]
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

// An element of work.matches has the number of a name of the DWARF in its upper half, the likeness
// of an INLINE_ORIGIN and this name in its lowest bits, and matchKnown.
const (
	matchLikeness = 1<<4 - 1
	matchKnown    = 1 << 4
)

// nameLikeness compares the name of an INLINE_ORIGIN with a name of the DWARF.
func (w *worker) nameLikeness(have, want uint32) likeness {
	names, text := w.in.Truth.Names, w.in.Sym.Origins.List[have].Text
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
