package check

import (
	"cmp"
	"context"
	"fmt"

	"symkit/check/internal/pcs"
	"symkit/check/internal/symfile"
	"symkit/check/internal/truth/dwarfinfo"
	"symkit/check/internal/truth/gotable"
	"symkit/check/report"
	"symkit/internal/par"
	"symkit/limits"
)

// worker is the state of one goroutine.
type worker struct {
	r     *replay
	namer *dwarfinfo.Namer

	// The other fields are a cache and buffers, used again for each unit or function.
	scan       dwarfinfo.Scan
	body       symfile.Body
	same       map[uint64]likeness // by index of INLINE_ORIGIN and number of name
	calls      []call
	nested     []call
	levels     [2]pcs.Set
	symCalls   []call
	keys       pcs.Levels
	ends       []uint64
	unsorted   []call
	borders    []uint64
	have, want []call
}

// functions compares FUNC, line and INLINE records with the DWARF, unit by unit. reportFuncs is the
// rest of the comparison, which needs no debug information.
func (r *replay) functions(dwarfErr error) (reportFuncs func(), err error) {
	c, s := r.c, r.s
	c.Begin(report.CheckFuncs, "functions")
	c.Begin(report.CheckNames, "functions")
	c.Begin(report.CheckLines, "PCs")
	c.Begin(report.CheckInlines, "PCs")
	r.checkCode()

	// In a symbol file without any lines or calls, none counts as missing.
	if s.Lines == 0 {
		r.noLines = true
		c.State(report.CheckLines, report.NotInFile, "")
	}
	if s.Inlines == 0 {
		c.State(report.CheckInlines, report.NotInFile, "")
	}

	// DWARF is preferred; a Go program without DWARF has tables of its own.
	if dwarfErr == nil && r.dw != nil {
		err, dwarfErr = r.units()
		if err != nil {
			return nil, err
		}
		units := r.dw.Len()
		r.dw.Release()
		if dwarfErr == nil && units > 0 {
			return r.reportFuncs, nil
		}
	}

	state, note := report.NotInELF, "no debug information"
	if dwarfErr != nil {
		state, note = report.NotVerified, dwarfErr.Error()
	} else if t, err := gotable.Open(r.img.Main, r.code, r.opt.Limits); err != nil {
		state, note = report.NotVerified, err.Error()
	} else if t != nil {
		return func() { r.goFunctions(t) }, nil
	} else if len(r.code) > 0 {
		r.noInfo = r.img.Main.Path() + " has no debug information: functions, lines and inlined calls are not verified; " +
			"give its debug file, or the file as it was before strip"
	}
	return func() { r.unverified(state, note) }, nil
}

// unverified states of each check how many records the check could not verify, because the ELF file
// has nothing to compare with.
func (r *replay) unverified(state report.State, note string) {
	c, s := r.c, r.s
	for _, class := range []struct {
		check   string
		records int
	}{
		{report.CheckFuncs, len(s.Funcs)},
		{report.CheckNames, len(s.Funcs)},
		{report.CheckLines, s.Lines},
		{report.CheckInlines, s.Inlines},
	} {
		if class.records == 0 && class.check != report.CheckFuncs {
			continue
		}
		if state == report.NotVerified {
			c.Unread(class.check, uint64(class.records), note)
			c.State(class.check, state, "")
		} else {
			c.Unverified(class.check, uint64(class.records), "")
			c.State(class.check, state, note)
		}
	}
}

// hole reports that part of the DWARF could not be read: functions, lines and inlined calls.
func (r *replay) hole(check string, n uint64, why string) {
	r.mu.Lock()
	r.holes = true
	r.mu.Unlock()
	r.c.Unread(check, n, why)
	r.hide(report.CheckLines, "")
	r.hide(report.CheckInlines, why)
}

// hide records that some lines or inlined calls of the ELF file could not be read or compared:
// records without a counterpart may then be right. outcomes counts these records. Of several reasons
// the first in the order of their texts is kept, so that the order of the goroutines has no effect.
func (r *replay) hide(check, why string) {
	r.mu.Lock()
	if old := r.hidden[check]; old == "" || why != "" && why < old {
		r.hidden[check] = why
	}
	r.mu.Unlock()
}

// units compares the units, several at a time. The second error is not nil if the debug information
// cannot be read at all.
func (r *replay) units() (err, unreadable error) {
	d := r.dw
	jobs := max(r.opt.Jobs, 1)
	r.pool = newUnitPool()
	damage := make([]error, jobs)
	err = par.Each(r.ctx, jobs, jobs, func() func(int) error {
		return func(i int) error {
			w := &worker{r: r, same: map[uint64]likeness{}, namer: dwarfinfo.NewNamer(r.names)}
			var err error
			damage[i], err = w.units()
			if err == nil {
				r.pool.help(w)
			}
			return err
		}
	})
	if err != nil {
		return err, nil
	}

	// If .debug_info cannot be inflated, the units that were read do not count.
	unreadable = cmp.Or(d.Err(), r.exceeded())
	if unreadable != nil {
		return nil, unreadable
	}

	// Damage of a header costs the units after it, or all of them.
	for _, err := range damage {
		if err != nil && d.Len() == 0 {
			return nil, err
		}
		if err != nil {
			r.hole(report.CheckFuncs, 1, err.Error())
		}
	}

	// Line tables of units without functions: FUNC records that have no function in the DWARF may
	// have their lines there.
	groups := d.Unread()
	err = par.Each(r.ctx, jobs, len(groups), func() func(int) error {
		w := &worker{r: r}
		return func(i int) error {
			t, _ := w.table(groups[i])
			if t != nil && r.exceeded() == nil {
				w.otherLines(t)
				w.uncarried(t)
			}
			return nil
		}
	})
	return err, r.exceeded()
}

// units compares units until there is no other one. damage is the error of Info.Next.
func (w *worker) units() (damage, err error) {
	r, d := w.r, w.r.dw
	r.pool.join()
	defer r.pool.leave()
	for {
		u, err := d.Next(r.ctx)
		if r.ctx.Err() != nil {
			return damage, context.Cause(r.ctx)
		}
		damage = cmp.Or(err, damage)
		if u == nil {
			return damage, nil
		}

		if r.exceeded() == nil {
			err = w.split(u)
		}
		d.Done(u)
		if err != nil {
			return damage, err
		}
		r.progress("functions, lines, inlined calls", u.Off, d.Size())
	}
}

// exceeded returns the error of a limit if the symbol tables and the debug information have more names,
// or the units more functions, than the limits allow: then no unit counts. The numbers do not depend on
// the order of the goroutines.
func (r *replay) exceeded() error {
	size := r.img.Size()
	switch {
	case r.names.Size()+r.symbols.names.Size() > r.opt.Limits.Max(limits.Names, size):
		return fmt.Errorf(".debug_info: %w", r.opt.Limits.Exceeded(limits.Names, size))
	case r.paths.Size() > r.opt.Limits.Max(limits.Files, size):
		return fmt.Errorf(".debug_line: %w", r.opt.Limits.Exceeded(limits.Files, size))
	}
	return cmp.Or(r.dw.Exhausted(), r.funcsExceeded())
}

// split compares the records of a unit, or of the split unit of a skeleton.
func (w *worker) split(u *dwarfinfo.Unit) error {
	if !u.Split {
		return w.unit(u)
	}
	split, release, err := u.Open(w.r.ctx, w.r.opt.Companions)
	if err != nil {
		w.r.hole(report.CheckFuncs, 1, err.Error())
		return nil
	}
	defer release()
	return w.unit(split)
}

// unit compares the records of one unit.
func (w *worker) unit(u *dwarfinfo.Unit) error {
	r, s := w.r, &w.scan
	err := s.Scan(r.ctx, u, r.code)
	defer s.Release()
	if r.ctx.Err() != nil {
		return context.Cause(r.ctx)
	}

	// An error costs a function, or the rest of the unit.
	errs := s.Errs
	if err != nil {
		errs = append(errs, err)
	}
	for _, err := range errs {
		r.hole(report.CheckFuncs, 1, fmt.Sprintf("unit at %#x: %v", u.Off, err))
	}
	if !u.Root {
		return nil
	}
	if len(s.Funcs) == 0 {
		return nil
	}

	w.namer.Unit(s)
	w.addTruth(s, u)
	lines, first := w.table(u.Group())
	if lines == nil {
		return nil
	}

	r.pool.compare(w, s, lines)

	// The first unit of a group that has been scanned compares the FUNC records without a function.
	if first {
		w.otherLines(lines)
		w.uncarried(lines)
	}
	return nil
}

// addTruth collects the functions of a unit.
func (w *worker) addTruth(s *dwarfinfo.Scan, u *dwarfinfo.Unit) {
	if len(s.Funcs) == 0 {
		return
	}

	r, unit := w.r, uint32(0)
	if r.opt.Map {
		name := u.Name()
		r.mu.Lock()
		unit = uint32(len(r.unitNames))
		r.unitNames = append(r.unitNames, name)
		r.mu.Unlock()
	}
	truth := make([]truthFunc, 0, s.RangeCount())
	for i := range s.Funcs {
		f := &s.Funcs[i]
		name := w.namer.ID(f.Ref)
		for _, x := range s.Ranges[f.Ranges.From:f.Ranges.To] {
			truth = append(truth, truthFunc{x.Lo, x.Hi, name, uint32(i), unit})
			if first, end := r.at(x.Lo); first < end {
				r.names.Prepare(name) // reportFuncs, which needs this, has one goroutine
			}
		}
	}

	// Units number their functions from 0.
	r.mu.Lock()
	for i := range truth {
		truth[i].fn += r.functionCount
	}
	r.functionCount += uint32(len(s.Funcs))
	most := r.opt.Limits.Max(limits.UnitRecords, r.img.Size()) / truthBytes
	switch {
	case r.tooManyFuncs || uint64(len(r.truth)+len(truth)) > most:
		r.truth, r.tooManyFuncs = nil, true
	case len(r.truth) == 0:
		r.truth = truth // the only unit of many programs: a copy would double its memory
	default:
		r.truth = append(r.truth, truth...)
	}
	r.mu.Unlock()
}

// truthBytes is what a truthFunc takes in memory, with what the slice needs to grow.
const truthBytes = 72

// funcsExceeded returns the error for more functions than the memory of unit records allows. The
// number of functions does not depend on the order of the goroutines.
func (r *replay) funcsExceeded() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.tooManyFuncs {
		return nil
	}
	return fmt.Errorf(".debug_info: %w", r.opt.Limits.Exceeded(limits.UnitRecords, r.img.Size()))
}

// function compares the lines and the inlined calls of the FUNC records that a function has: of each
// FUNC both together, so that its records are read once.
func (w *worker) function(s *dwarfinfo.Scan, f *dwarfinfo.Func, t *dwarfinfo.Lines) {
	r := w.r
	for _, x := range s.Ranges[f.Ranges.From:f.Ranges.To] {
		first, end := r.at(x.Lo)
		for fi := first; fi < end; fi++ {
			w.compare(r.lines, fi, t, uint64(f.Ref.Off))
			if r.s.Inlines > 0 {
				w.inlines(fi, s, f, t)
			}
		}
	}
}

// otherLines compares FUNC records that begin in the table's code, and were not compared with the
// table of their function: those of functions that have no DIE (gcc's thunks, folded bodies), or
// whose DIE is not read here.
func (w *worker) otherLines(t *dwarfinfo.Lines) {
	// A record whose outcome is right is closed: no other table is compared with it.
	r := w.r
	for _, x := range t.Code() {
		if x.Hi <= r.bias {
			continue
		}
		first, _ := r.at(max(x.Lo, r.bias))
		if first > 0 && r.s.Funcs[first-1].End+r.bias > x.Lo {
			first-- // yasm gives no row to the first instruction of a section
		}
		for i := r.open.next(first); i < len(r.s.Funcs); i = r.open.next(i + 1) {
			addr := r.s.Funcs[i].Addr + r.bias
			if addr >= x.Hi {
				break
			}
			if r.exhausted(report.CheckLines) {
				return
			}
			w.endsLines(i, t)
			if !w.compared(i) && w.compare(r.otherLines, i, t, t.Off) {
				r.open.close(i)
			}
		}
	}
}

// endsLines notes if a sequence of t ends where FUNC i does.
func (w *worker) endsLines(i int, t *dwarfinfo.Lines) {
	r := w.r
	if t.Ends(r.s.Funcs[i].End + r.bias) {
		r.mu.Lock()
		r.endsLines[i] = true
		r.mu.Unlock()
	}
}

// compared reports whether the lines of a FUNC were compared with those of its function.
func (w *worker) compared(i int) bool {
	w.r.mu.Lock()
	defer w.r.mu.Unlock()
	return w.r.lines[i].done
}

// compare compares the lines of one FUNC with a unit's. from is the offset of the DIE or line
// table with these lines. It returns true if the lines are right according to this unit or another.
func (w *worker) compare(outcomes []funcOutcome, i int, t *dwarfinfo.Lines, from uint64) bool {
	if w.settled(&outcomes[i]) {
		return true
	}
	if w.r.exhausted(report.CheckLines) {
		return false
	}

	f := &w.r.s.Funcs[i]
	o := w.compareLines(f, t.From(f.Addr+w.r.bias))
	o.from = from
	w.r.mu.Lock()
	defer w.r.mu.Unlock()
	outcomes[i].better(o)
	return outcomes[i].right()
}

// settled reports whether an outcome cannot improve. Thousands of units describe the one copy of an
// inline function that the linker kept; only the first unit that agrees is compared.
func (w *worker) settled(o *funcOutcome) bool {
	w.r.mu.Lock()
	defer w.r.mu.Unlock()
	return o.right()
}
