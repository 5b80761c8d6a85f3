package compare

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"

	"symkit/check/internal/checks"
	"symkit/check/internal/truth"
	"symkit/check/internal/truth/dwarfinfo"
	"symkit/check/report"
	"symkit/internal/limitof"
	"symkit/internal/par"
)

// FromUnits compares line and INLINE records with the units of the debug information or, without any,
// with the tables of a Go program.
func FromUnits(ctx context.Context, in *Input) (*Units, error) {
	u, err := in.fromUnits(ctx)
	if err != nil {
		return nil, err
	}
	if over := in.Truth.Symbols.Over; over != nil {
		u.hole(checks.Funcs, 1, over.Error()) // FUNC records may be of these symbols
	}
	slices.SortFunc(u.functions, func(a, b function) int {
		return cmp.Or(cmp.Compare(a.lo, b.lo), cmp.Compare(a.hi, b.hi), cmp.Compare(a.name, b.name))
	})
	u.lines.sort()
	u.calls.sort()
	u.others.sort()
	return u, nil
}

// fromUnits prefers DWARF; a Go program without DWARF has tables of its own.
func (in *Input) fromUnits(ctx context.Context) (*Units, error) {
	t := in.Truth
	if t.Unreadable != nil {
		return unreadUnits(in.Report, t.Unreadable), nil
	}
	if t.HasUnits() {
		u, err := in.units(ctx)
		if u != nil || err != nil {
			return u, err
		}
	}

	table, err := t.GoTable()
	switch {
	case err != nil:
		return unreadUnits(in.Report, err), nil
	case table != nil:
		return in.goFunctions(table), nil
	}
	u := newUnits(in.Report)
	u.state, u.note = report.NotInELF, "no debug information"
	if len(t.Code) > 0 {
		u.NoDebugInfo = t.Image.Main.Path() + " has no debug information: functions, lines and inlined calls are not verified"
		if !t.Symbols.Local {
			u.NoDebugInfo += ", nor the PUBLIC records of functions that are not exported"
		}
		u.NoDebugInfo += "; give its debug file, or the file as it was before strip"
	}
	return u, nil
}

// units compares the units, several at a time. It returns nil if there are none.
func (in *Input) units(ctx context.Context) (*Units, error) {
	t, jobs := in.Truth, max(in.Jobs, 1)
	defer t.Release()
	results := make([]*Units, jobs)
	opt := truth.UnitOptions{Jobs: jobs, Calls: in.Sym.Inlines > 0, Names: in.Map}
	damage, unreadable, err := t.Units(ctx, opt, func(i int, units iter.Seq[*truth.Unit]) error {
		results[i] = newUnits(in.Report)
		w := newWorker(in, results[i])
		for u := range units {
			if in.exceeded() == nil {
				err := w.unit(ctx, u)
				if err != nil {
					return err
				}
			}
			in.Progress("functions, lines, inlined calls", u.At, t.Size())
		}
		return nil
	})
	unreadable = cmp.Or(unreadable, in.exceeded())
	switch {
	case err != nil:
		return nil, err
	case unreadable != nil:
		return unreadUnits(in.Report, unreadable), nil
	case t.UnitCount() == 0:
		return nil, nil
	}

	// Line tables of units without functions: FUNC records that have no function in the DWARF may
	// have their lines there.
	tables := t.OtherLines()
	others := make([]*Units, len(tables))
	err = par.Each(ctx, jobs, len(tables), func() func(int) error {
		w := newWorker(in, nil)
		return func(i int) error {
			w.out = newUnits(in.Report)
			lines, _, err := t.Lines(tables[i])
			if err != nil {
				w.noLines(err)
			} else if in.exceeded() == nil {
				w.otherLines(lines)
			}
			others[i] = w.out
			return nil
		}
	})
	unreadable = in.exceeded()
	switch {
	case err != nil:
		return nil, err
	case unreadable != nil:
		return unreadUnits(in.Report, unreadable), nil
	}

	out := results[0]
	out.add(results[1:]...)
	out.add(others...)
	if damage != nil {
		out.hole(checks.Funcs, 1, damage.Error())
	}
	return out, nil
}

// exceeded returns the error of a limit if the debug information has more names or functions than the
// limits allow: then no unit counts. The numbers do not depend on the order of the goroutines.
func (in *Input) exceeded() error {
	err := in.Truth.Exceeded()
	size := in.Truth.Image.Size()
	if err == nil && uint64(in.work.functions.Load()) > in.Report.Limits.Max(limitof.UnitRecords, size)/functionBytes {
		err = fmt.Errorf(".debug_info: %w", in.Report.Limits.Exceeded(limitof.UnitRecords, size))
	}
	return err
}

// functionBytes is what a function takes in memory, with what the slice needs to grow.
const functionBytes = 72

// splitFuncs is the number of functions of a unit that several goroutines compare, funcsChunk the number
// that one of them takes at a time. Otherwise one large unit, or the last ones, would keep one goroutine
// busy while the others have nothing to do.
const splitFuncs, funcsChunk = 1 << 11, 1 << 8

// unit compares the records of one unit.
func (w *worker) unit(ctx context.Context, u *truth.Unit) error {
	for _, err := range u.Damage {
		w.out.hole(checks.Funcs, 1, err.Error())
	}
	if len(u.Funcs) == 0 {
		return nil
	}
	w.functions(u)
	if u.NoLines != nil {
		w.noLines(u.NoLines)
		return nil
	}

	if len(u.Funcs) < splitFuncs {
		for i := range u.Funcs {
			w.function(u, &u.Funcs[i])
		}
	} else {
		err := w.split(ctx, u)
		if err != nil {
			return err
		}
	}

	// The first unit of a group that has been scanned compares the FUNC records without a function.
	if u.First {
		w.otherLines(u.Lines)
	}
	return nil
}

// split compares the functions of a unit on several goroutines.
func (w *worker) split(ctx context.Context, u *truth.Unit) error {
	n := (len(u.Funcs) + funcsChunk - 1) / funcsChunk
	results := make([]*Units, n)
	err := par.Each(ctx, w.in.Jobs, n, func() func(int) error {
		helper := newWorker(w.in, nil)
		return func(k int) error {
			helper.out = newUnits(w.in.Report)
			for i := k * funcsChunk; i < min((k+1)*funcsChunk, len(u.Funcs)); i++ {
				helper.function(u, &u.Funcs[i])
			}
			results[k] = helper.out
			return nil
		}
	})
	w.out.add(results...)
	return err
}

// functions collects the functions of a unit.
func (w *worker) functions(u *truth.Unit) {
	out, unit := w.out, uint32(0)
	if w.in.Map {
		unit = uint32(len(out.names))
		out.names = append(out.names, u.Name)
	}
	ranges := u.RangeCount()
	w.in.work.functions.Add(int64(ranges))
	if w.in.exceeded() != nil {
		return
	}
	out.functions = slices.Grow(out.functions, ranges)
	for i := range u.Funcs {
		f := &u.Funcs[i]
		for _, x := range u.Ranges[f.Ranges.From:f.Ranges.To] {
			out.functions = append(out.functions, function{x.Lo, x.Hi, f.Name, out.count + uint32(i), unit})
			if first, end := w.in.at(x.Lo); first < end {
				w.in.Truth.Names.Prepare(f.Name) // Funcs, which needs this, has one goroutine
			}
		}
	}
	out.count += uint32(len(u.Funcs))
}

// noLines notes that the lines of a unit cannot be read. Inlined calls need them too, for the names of
// their files.
func (w *worker) noLines(err error) {
	w.out.hide(checks.Lines, err.Error())
	w.out.hide(checks.Inlines, err.Error())
	w.out.found.Unverified(checks.Lines, 0, err.Error())
}

// function compares the lines and the inlined calls of the FUNC records that a function has: of each
// FUNC both together, so that its records are read once.
func (w *worker) function(u *truth.Unit, f *dwarfinfo.Func) {
	for _, x := range u.Ranges[f.Ranges.From:f.Ranges.To] {
		first, end := w.in.at(x.Lo)
		for i := first; i < end; i++ {
			o, ok := w.lines(i, u.Lines, uint64(f.Ref.Off), linesRight)
			if ok {
				w.out.lines.add(funcOutcome{i, o})
			}
			w.in.work.set(i, linesDone)
			if w.in.Sym.Inlines > 0 {
				w.inlines(i, u, f)
			}
		}
	}
}

// lines compares the lines of FUNC i with a table's. from is the offset of the DIE or line table with
// these lines. It returns false if another description is known to be right: thousands of units describe
// the one copy of an inline function that the linker kept, and only the first unit that agrees is
// compared.
func (w *worker) lines(i int, t *dwarfinfo.Lines, from uint64, right uint32) (o outcome, ok bool) {
	if w.in.work.is(i, right) || w.exhausted(checks.Lines) {
		return o, false
	}
	f := &w.in.Sym.Funcs[i]
	o = w.compareLines(f, t.From(f.Addr+w.in.Bias))
	o.from, o.empty = from, o.compared == 0
	if o.right() {
		w.in.work.set(i, right)
	}
	return o, true
}

// inlines compares the inlined calls of FUNC i with those of function f.
func (w *worker) inlines(i int, u *truth.Unit, f *dwarfinfo.Func) {
	if w.in.work.is(i, callsRight) || w.exhausted(checks.Inlines) {
		return
	}
	var ok bool
	w.calls, ok = w.truthCalls(w.calls[:0], u, f, &w.in.Sym.Funcs[i])
	if !ok {
		w.out.hide(checks.Inlines, noteTooOften)
		return
	}
	w.compareInlines(i, f.Inlines.Len(), uint64(f.Ref.Off))
}

// otherLines compares FUNC records that begin in the table's code, and were not compared with the
// table of their function: those of functions that have no DIE (gcc's thunks, folded bodies), or
// whose DIE is not read here. It also collects the code of the table that is not all in FUNC records.
func (w *worker) otherLines(t *dwarfinfo.Lines) {
	in, out := w.in, w.out
	for _, x := range t.Code() {
		x.Lo = max(x.Lo, in.Bias)
		if x.Lo >= x.Hi {
			continue
		}
		if w.exhausted(checks.Lines) {
			return
		}
		if in.covered.FirstOutside(x.Lo-in.Bias, x.Hi-in.Bias) < x.Hi-in.Bias {
			out.uncovered = append(out.uncovered, x)
		}

		first, _ := in.at(x.Lo)
		if first > 0 && in.Sym.Funcs[first-1].End+in.Bias > x.Lo {
			first-- // yasm gives no row to the first instruction of a section
		}
		for i := first; i < len(in.Sym.Funcs) && in.Sym.Funcs[i].Addr+in.Bias < x.Hi; i++ {
			w.spend(1)
			if in.work.is(i, linesDone) {
				continue
			}
			if t.Ends(in.Sym.Funcs[i].End + in.Bias) {
				out.ends[i] = true
			}
			o, ok := w.lines(i, t, t.Off, otherRight)
			if ok {
				out.others.add(funcOutcome{i, o})
			}
		}
	}
}
