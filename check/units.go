package check

import (
	"context"
	"fmt"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"symkit/internal/limits"
	"symkit/internal/mem"
)

// worker is the state of one goroutine.
type worker struct {
	r          *replay
	same       map[uint64]likeness // by origin and name
	calls      []call
	symCalls   []call
	borders    []uint64
	have, want []call
}

// functions compares FUNC, line and INLINE records with the DWARF, unit by
// unit.
func (r *replay) functions(dwarfErr error) error {
	c, s := r.c, r.s
	c.begin(CheckFuncs, "functions")
	c.begin(CheckNames, "functions")
	c.begin(CheckLines, "PCs")
	c.begin(CheckInlines, "PCs")
	r.checkCode()
	if len(s.lines) == 0 {
		r.noLines = true
		c.state(CheckLines, NotInFile, "")
	}
	if len(s.inlines) == 0 {
		c.state(CheckInlines, NotInFile, "")
	}
	if dwarfErr == nil && r.dw != nil && len(r.dw.units) > 0 {
		if err := r.units(); err != nil {
			return err
		}
		r.reportFuncs()
		return nil
	}
	state, note := NotInELF, "no debug information"
	if dwarfErr != nil {
		state, note = NotVerified, dwarfErr.Error()
	} else if t, err := r.goTable(); err != nil {
		state, note = NotVerified, err.Error()
	} else if t != nil {
		r.goFunctions(t)
		return nil
	}
	for _, class := range []struct {
		check   string
		records int
	}{{CheckFuncs, len(s.funcs)}, {CheckNames, len(s.funcs)}, {CheckLines, len(s.lines)}, {CheckInlines, len(s.inlines)}} {
		if class.records == 0 && class.check != CheckFuncs {
			continue
		}
		if state == NotVerified {
			c.unread(class.check, uint64(class.records), note)
			c.state(class.check, state, "")
		} else {
			c.unverified(class.check, uint64(class.records), "")
			c.state(class.check, state, note)
		}
	}
	return nil
}

// hole says that part of the DWARF could not be read: functions, lines and inlined calls.
func (r *replay) hole(check string, n uint64, why string) {
	r.mu.Lock()
	r.holes = true
	r.mu.Unlock()
	r.c.unread(check, n, why)
	r.hide(CheckLines, "")
	r.hide(CheckInlines, why)
}

// hide says that lines or inlined calls could not be read or compared: those in the symbol file
// that were compared with nothing may be right. outcomes counts them. Of several reasons the
// first by its text is kept, whichever goroutine comes first.
func (r *replay) hide(check, why string) {
	r.mu.Lock()
	if old := r.hidden[check]; old == "" || why != "" && why < old {
		r.hidden[check] = why
	}
	r.mu.Unlock()
}

// units compares all units, several at once.
func (r *replay) units() error {
	var next, done atomic.Int64
	g, ctx := errgroup.WithContext(r.ctx)
	n := int64(len(r.dw.groups))
	for range r.opt.Jobs {
		w := &worker{r: r, same: map[uint64]likeness{}}
		g.Go(func() error {
			return mem.Guard(func() error {
				for i := next.Add(1) - 1; i < n; i = next.Add(1) - 1 {
					if err := w.group(ctx, &r.dw.groups[i], &done); err != nil {
						return err
					}
				}
				return nil
			})
		})
	}
	return g.Wait()
}

// tooMuch fails where the debug information has more names than there may be: how
// many there are does not depend on which goroutine met them.
func (r *replay) tooMuch() error {
	size := r.img.Size()
	if r.tooManySymbols {
		return fmt.Errorf("%s: names of symbols: %w", r.img.Main.Path(), limits.Names.Exceeded(size))
	}
	if r.dw == nil {
		return nil
	}
	if r.names.size() > limits.Names.Max(size) {
		return fmt.Errorf("%s: %w", r.dw.path, limits.Names.Exceeded(size))
	}
	if r.paths.size() > limits.Files.Max(size) {
		return fmt.Errorf("%s: %w", r.dw.path, limits.Files.Exceeded(size))
	}
	return r.dw.exhausted()
}

// unit compares what one unit of a group describes. A unit without functions needs the line
// table only if it is the last of its group and no unit before it did: FUNC records that the
// DWARF has no function for may have their lines there.
func (w *worker) unit(ctx context.Context, u *unitHeader, g *groupWork, last bool) error {
	r := w.r
	s, err := r.dw.scanUnit(ctx, u, r.code)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		r.hole(CheckFuncs, 1, fmt.Sprintf("unit at %#x: %v", u.off, err))
	}
	for _, err := range s.errs {
		r.hole(CheckFuncs, 1, fmt.Sprintf("unit at %#x: %v", u.off, err))
	}
	if s.root == nil {
		return nil
	}
	if isSplit(s.root) {
		r.hole(CheckFuncs, 1, "units whose functions are in split DWARF files are not read")
	}
	r.addTruth(s)
	if len(s.funcs) == 0 && (!last || g.read) {
		return nil
	}
	lines := w.table(g, u, s.root)
	if lines == nil {
		return nil
	}
	w.lines(s, lines, !g.others && len(r.s.lines) > 0)
	g.others = true
	if len(r.s.inlines) > 0 {
		w.inlines(s, lines, newOriginNames(r, s))
	}
	return nil
}

// addTruth collects the functions of a unit.
func (r *replay) addTruth(s *unitScan) {
	if len(s.funcs) == 0 {
		return
	}
	far := r.dw.far()
	truth := make([]truthFunc, 0, s.rangeCount())
	for i := range s.funcs {
		f := &s.funcs[i]
		name := r.names.id(s.naming(dieRef{off: s.decls[f.decl].off}, far))
		for _, x := range s.ranges[f.ranges.from:f.ranges.to] {
			truth = append(truth, truthFunc{x.lo, x.hi, name, uint32(i)})
		}
	}
	r.mu.Lock()
	for i := range truth {
		truth[i].fn += r.functionCount
	}
	r.functionCount += uint32(len(s.funcs))
	if len(r.truth) == 0 {
		r.truth = truth
	} else {
		r.truth = append(r.truth, truth...)
	}
	r.mu.Unlock()
}

// lines compares the lines of the FUNC records that the unit's functions have,
// then, with others, of others that begin in the table's code: of a function that has no DIE (gcc's
// thunks, folded bodies), or whose DIE is not read here.
func (w *worker) lines(s *unitScan, t *unitLines, others bool) {
	r := w.r
	begins := map[uint64]bool{}
	for i := range s.funcs {
		for _, x := range s.ranges[s.funcs[i].ranges.from:s.funcs[i].ranges.to] {
			begins[x.lo] = true
			for _, i := range r.at(x.lo) {
				w.compare(r.lines, i, t)
			}
		}
	}
	if !others {
		return
	}
	for _, x := range t.code() {
		if x.hi <= r.bias {
			continue
		}
		for k := r.open.next(r.from(max(x.lo, r.bias) - r.bias)); k < len(r.order); k = r.open.next(k + 1) {
			addr := r.s.funcs[r.order[k]].addr + r.bias
			if addr >= x.hi {
				break
			}
			if r.exhausted(CheckLines) {
				return
			}
			if !begins[addr] && w.compare(r.otherLines, r.order[k], t) {
				r.open.close(k)
			}
		}
	}
}

// compare compares the lines of one FUNC with a unit's. It returns true if they are right, by
// this unit or by another.
func (w *worker) compare(outcomes []funcOutcome, i uint32, t *unitLines) bool {
	if w.settled(&outcomes[i]) {
		return true
	}
	if w.r.exhausted(CheckLines) {
		return false
	}
	f := &w.r.s.funcs[i]
	o := w.r.compareLines(f, t.from(f.addr+w.r.bias))
	w.r.mu.Lock()
	defer w.r.mu.Unlock()
	outcomes[i].better(o)
	return outcomes[i].right()
}

// settled tells that an outcome is as good as it can be. Thousands of units describe the copy
// of an inline function that the linker kept; only the first need be compared.
func (w *worker) settled(o *funcOutcome) bool {
	w.r.mu.Lock()
	defer w.r.mu.Unlock()
	return o.right()
}

// rangeCount is the number of ranges of all functions.
func (s *unitScan) rangeCount() (n int) {
	for i := range s.funcs {
		n += s.funcs[i].ranges.len()
	}
	return n
}

// inlines compares the inlined calls of the FUNC records likewise.
func (w *worker) inlines(s *unitScan, t *unitLines, names *originNames) {
	r := w.r
	for i := range s.funcs {
		f := &s.funcs[i]
		for _, x := range s.ranges[f.ranges.from:f.ranges.to] {
			for _, fi := range r.at(x.lo) {
				if w.settled(&r.inlines[fi]) {
					continue
				}
				if r.exhausted(CheckInlines) {
					return
				}
				sf := &r.s.funcs[fi]
				var ok bool
				if w.calls, ok = w.truthCalls(w.calls[:0], s, f, sf, t, names); !ok {
					r.hide(CheckInlines, noteTooOften)
					continue
				}
				w.symCalls = r.symCalls(sf, w.symCalls[:0])
				r.spent.Add(int64(f.inlines.len() + len(w.calls) + len(w.symCalls)))
				o := w.compareCalls(w.symCalls, w.calls)
				r.mu.Lock()
				r.inlines[fi].better(o)
				r.mu.Unlock()
			}
		}
	}
}

// truthCalls collects the inlined calls of f, clipped to sf; see nest.
func (w *worker) truthCalls(calls []call, s *unitScan, f *scanFunc, sf *symFunc, t *unitLines, names *originNames) ([]call, bool) {
	lo, hi := sf.addr+w.r.bias, sf.end+w.r.bias
	for i := f.inlines.from; i < f.inlines.to; i++ {
		in := &s.inlines[i]
		for _, x := range s.ranges[in.ranges.from:in.ranges.to] {
			if l, h := max(x.lo, lo), min(x.hi, hi); l < h {
				calls = append(calls, call{
					depth: in.depth, lo: l, hi: h,
					callLine: numberOf(uint32(min(uint64(in.callLine), 1<<32-1))),
					file:     t.file(in.callFile), name: names.id(in.origin),
				})
			}
		}
	}
	sortCalls(calls)
	return nest(calls)
}

// A call of one range may have a part in each range of the call around it. All calls of a
// function have maxParts each, on average, and fewParts more, at most.
const maxParts, fewParts = 8, 1 << 12

// nest clips calls to those one level up: what lies outside has no caller.
// (DWARF 2 has no ranges: gcc gives a call one range of several there, and not
// the same part to the calls in it.) calls are sorted. It is false where each of
// many overlaps each of many others, which no compiler writes.
func nest(calls []call) ([]call, bool) {
	out, limit := calls[:0:0], maxParts*len(calls)+fewParts
	var above ranges // the PCs of the level above
	for len(calls) > 0 {
		n := level(calls, calls[0].depth)
		own := make(ranges, 0, n)
		for _, c := range calls[:n] {
			if c.depth == 0 {
				out, own = append(out, c), append(own, addrRange{c.lo, c.hi})
				continue
			}
			for i := above.find(c.lo); i < len(above) && above[i].lo < c.hi; i++ {
				part := c
				part.lo, part.hi = max(c.lo, above[i].lo), min(c.hi, above[i].hi)
				if out, own = append(out, part), append(own, addrRange{part.lo, part.hi}); len(out) > limit {
					return nil, false
				}
			}
		}
		above, calls = union(own), calls[n:]
	}
	return out, true
}
