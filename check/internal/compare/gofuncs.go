package compare

import (
	"symkit/check/internal/checks"
	"symkit/check/internal/naming"
	"symkit/check/internal/pcs"
	"symkit/check/internal/symfile"
	"symkit/check/internal/truth/dwarfinfo"
	"symkit/check/internal/truth/gotable"
)

// goFunctions compares line records with the table of a Go program that has no other debug information,
// and INLINE records with the inlined calls in its tables.
func (in *Input) goFunctions(t *gotable.Table) *Units {
	s, names := in.Sym, in.Truth.Names
	inlines, note := gotable.NewInlines(in.Truth.Image.Main, t.Data, t.Addr)
	w := newWorker(in, newUnits(in.Report))
	u := w.out
	u.source = ".gopclntab"
	for i := range t.Funcs {
		f := &t.Funcs[i]
		if f.Entry >= f.End || !in.Truth.Code.Contains(f.Entry) {
			continue
		}
		fn := function{f.Entry, f.End, names.ID(naming.Key{Name: f.Name}), u.count, 0}
		u.count++

		// Several FUNC records can begin at one address: each is compared.
		first, end := in.at(f.Entry)
		for k := first; k < end; k++ {
			// The table's own end is where the next function begins; the code
			// ends where the lines do.
			if end := s.Funcs[k].End + in.Bias; end < f.End && t.HasLine(end-1) && !t.HasLine(end) {
				fn.hi = end
			}

			if s.Lines > 0 {
				sf := &s.Funcs[k]
				o := w.compareLines(sf, w.goLines(t, sf))
				o.from = uint64(i)
				u.lines.add(funcOutcome{k, o})
			}

			if inlines != nil && s.Inlines > 0 {
				w.goCalls(inlines, i, f.Entry, fn.hi, k)
			} else if s.Funcs[k].Inlines > 0 {
				u.hide(checks.Inlines, note)
			}
		}
		u.functions = append(u.functions, fn)
	}
	return u
}

// goLines returns the lines of f at the first and last PC of each record and of each gap between
// records. debug/gosym finds the line of a PC by running the table from the function's beginning, so
// that looking up every PC would take quadratic time.
func (w *worker) goLines(t *gotable.Table, f *symfile.Func) (runs []dwarfinfo.Run) {
	in := w.in
	if !t.HasLine(f.Addr + in.Bias) {
		return nil // for the linker's own marks, which have no table, debug/gosym reads the first table of the program
	}
	add := func(x dwarfinfo.Run) {
		if int32(x.Line) > 0 {
			runs = append(runs, x)
		}
	}

	// sample adds the runs of the first and the last PC of [lo, hi), as one run if they agree.
	sample := func(lo, hi uint64) {
		at := func(pc uint64) dwarfinfo.Run {
			file, line := t.Line(pc)
			id, ok := t.Paths[file]
			if !ok && file != "" {
				id = in.Truth.Paths.ID([]byte(file))
				t.Paths[file] = id
			}
			return dwarfinfo.Run{Range: pcs.Range{Lo: pc, Hi: pc + 1}, Line: uint32(line), File: id}
		}
		first, last := at(lo), at(hi-1)
		if first.Line == last.Line && first.File == last.File {
			first.Hi = hi
			add(first)
			return
		}
		first.Hi = last.Lo
		add(first)
		add(last)
	}

	// The records and the gaps between them, in order of address.
	pos, end := f.Addr+in.Bias, f.End+in.Bias
	in.Sym.Read(f, &w.body)
	lines := w.body.ByAddress()
	for i := range lines {
		lo, hi := lines[i].Addr+in.Bias, min(lines[i].End()+in.Bias, end)
		if lo > pos {
			sample(pos, min(lo, end))
		}
		pos = max(pos, lo)
		if hi > pos {
			sample(pos, hi)
			pos = hi
		}
	}
	if pos < end {
		sample(pos, end)
	}
	return runs
}
