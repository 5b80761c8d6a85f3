package dump

import (
	"cmp"
	"context"
	"errors"
	"sort"

	"symkit/dump/internal/files"
	"symkit/dump/internal/funcs"
	"symkit/dump/internal/inlines"
	"symkit/dump/internal/lines"
	"symkit/dump/internal/load"
	"symkit/dump/internal/losses"
	"symkit/dump/internal/naming"
	"symkit/dump/internal/record"
	"symkit/dump/internal/symbols"
	"symkit/elfx"
	"symkit/emit"
	"symkit/internal/bounds"
	"symkit/internal/demangle"
	"symkit/internal/dwarfx"
	"symkit/internal/limitof"
	"symkit/internal/mem"
	"symkit/internal/par"
	"symkit/limits"
)

// described is the result of describe: the functions of a module with their lines and inlined calls.
type described struct {
	funcs       []record.Func // by address
	overlapping int           // functions in which inlined calls side by side share code

	lineShare losses.Share // bytes of line programs that were lost
	callShare losses.Share // inlined calls that were lost
}

// describe gives the merged functions their lines and inlined calls, unit by unit,
// and adds those of only, which the symbol table alone has, that a line table covers.
func describe(ctx context.Context, units *load.Units, merged funcs.Merged, syms symbols.Table, only []funcs.Func, sources *files.Table, jobs int, load uint64, img *elfx.Image, limit limits.Limits) (described, losses.List, error) {
	var d described
	var lost losses.List
	list, names := units.List, units.Names
	groups := lines.Groups(list, merged.ByUnit, len(only) > 0)

	// Each goroutine writes the elements of its own groups and units.
	out := make([]record.Func, len(merged.Funcs))
	mem.Populate(out) // a page that the collector reads first costs the system, and all processors, a second time
	covered, kept := make([][]dwarfx.Span, len(groups)), make([]*dwarfx.LineTable, len(groups))
	overlapping, calls := make([]int, len(list)), make([]int, len(list))
	callErrs, lostCalls := make([]error, len(list)), make([]int, len(list))
	for i, u := range list {
		calls[i] = len(u.Calls) // the placer takes them
	}

	// The lines and calls of a group that takes too much memory are lost.
	budget := bounds.NewShared(limit, limitof.LineRecords, img.Size())
	forget := func(g int) {
		for _, ui := range groups[g].Units {
			for _, i := range merged.ByUnit[ui] {
				out[i].Lines, out[i].Calls = nil, inlines.Calls{}
			}
		}
	}

	// A worker reads a line program once for all units that name it.
	err := par.Each(ctx, jobs, len(groups), func() func(int) error {
		newDescriber := func(reader *lines.Reader) *describer {
			return &describer{reader: reader, placer: inlines.NewPlacer(reader.Files, limit, img.Size()), merged: merged, names: names, load: load, out: out}
		}
		reader := lines.NewReader(sources, load)
		x := newDescriber(reader)
		return func(g int) error {
			owner, units := groups[g].Owner, groups[g].Units
			pay := func(bytes uint64) error { return budget.Take(owner, bytes) }
			if !reader.Open(&groups[g], list, pay) {
				return nil
			}
			sources.Begin()

			// The parts of a large unit share its line table, and each has functions of its own.
			split := 1
			if list[owner].IsPart() {
				split = jobs
			}
			err := par.Each(ctx, split, len(units), func() func(int) error {
				x := x
				if split > 1 {
					x = newDescriber(reader.Fork(sources))
				}
				x.placer.Pay = pay
				return func(i int) error {
					ui := units[i]
					x.unit(list[ui], merged.ByUnit[ui])
					callErrs[ui], lostCalls[ui], overlapping[ui] = x.placer.Err(), x.placer.Lost, x.placer.Overlapping
					x.placer.Overlapping = 0
					_ = x.reader.Settle() // Keep has the error, too
					return nil
				}
			})
			if err != nil {
				return err
			}
			covered[g] = reader.Covered(only)
			if len(covered[g]) > 0 {
				kept[g] = reader.Keep(only)
			}
			err = sources.End()
			if errors.Is(err, losses.ErrInTurn) {
				return err
			}
			if err != nil {
				groups[g].Err, covered[g] = groups[g].Locate(err, list), nil
				forget(g)
			}

			// Another goroutine may release the records from here on.
			if budget.Keep(owner, func() { forget(g) }) != nil {
				forget(g)
			}
			return nil
		}
	})
	if err != nil {
		return d, lost, err
	}

	// Losses are added in the order of units and groups, not of goroutines.
	lineErrs := make([]error, len(list))
	path := img.DWARF().Path()
	for i := range groups {
		g := &groups[i]
		if err := budget.Dropped(g.Owner); err != nil {
			g.Err, covered[i] = g.Locate(err, list), nil
		}
		lineErrs[g.Owner] = g.Err
		from := list[g.Owner].Lines.LineOff
		d.lineShare.All += g.Size
		d.lineShare.Add(losses.Rest(g.Err, from, from+g.Size), losses.InFile(path, g.Err))
	}
	d.lineShare.Add(max(d.lineShare.All, 1), units.LineErr)
	for i := range list {
		d.overlapping += overlapping[i]
		d.callShare.All += uint64(calls[i])
		d.callShare.Add(uint64(lostCalls[i]), losses.InFile(path, callErrs[i]))
		lost.AddIn(path, cmp.Or(lineErrs[i], callErrs[i]))
	}

	assigned := lines.Assign(groups, covered, len(only))
	added, symLost, err := describeSymbolOnly(ctx, list, groups, kept, assigned, only, syms, names, sources, jobs, load, img, limit)
	d.funcs = mergeRecords(out, added)
	lost.Append(symLost)
	return d, lost, err
}

// describer adds lines and calls to functions, for one goroutine.
type describer struct {
	reader *lines.Reader
	placer *inlines.Placer
	merged funcs.Merged
	names  *naming.Table
	load   uint64
	out    []record.Func // parallel to merged.Funcs; each unit has functions of its own
}

// unit describes the functions of a unit whose line program the reader has opened.
func (x *describer) unit(u *load.Unit, ofUnit []uint32) {
	x.reader.Start(u)
	x.placer.Start(u, x.merged.Funcs, ofUnit)
	for _, i := range ofUnit {
		f, r := &x.merged.Funcs[i], &x.out[i]
		r.Addr, r.Size, r.Multiple = f.Lo-x.load, f.Hi-f.Lo, f.Multiple
		r.Name, r.Sound = x.names.Text(f.Name), x.names.IsSound(f.Name)
		r.Lines = x.reader.Of(f.Lo, f.Hi)
	}

	// Lines come before calls, because a call without a file takes that of a line around the call.
	for _, i := range ofUnit {
		r := &x.out[i]
		r.Calls = x.placer.Of(&x.merged.Funcs[i], func(addr uint64) uint32 {
			if len(r.Lines) == 0 {
				return x.reader.Files.Unknown()
			}
			after := sort.Search(len(r.Lines), func(i int) bool { return r.Lines[i].Addr > addr-x.load })
			return r.Lines[max(after-1, 0)].File
		})
	}
}

// describeSymbolOnly returns the functions of only that are assigned to a group,
// with the lines that its line table, of which kept has the part, has for them.
func describeSymbolOnly(ctx context.Context, list []*load.Unit, groups []lines.Group, kept []*dwarfx.LineTable, assigned [][]int, only []funcs.Func, syms symbols.Table, names *naming.Table, sources *files.Table, jobs int, load uint64, img *elfx.Image, limit limits.Limits) ([]record.Func, losses.List, error) {
	rows := make([][]emit.Line, len(only))
	known := make([]bool, len(only))
	budget := bounds.NewShared(limit, limitof.LineRecords, img.Size())
	unnamed := make([]error, len(groups)) // names of files do not fit
	forget := func(g int) {
		for _, i := range assigned[g] {
			known[i], rows[i] = false, nil
		}
	}
	err := par.Each(ctx, jobs, len(groups), func() func(int) error {
		reader := lines.NewReader(sources, load)
		return func(g int) error {
			if len(assigned[g]) == 0 {
				return nil
			}

			owner := groups[g].Owner
			reader.Use(kept[g], func(bytes uint64) error { return budget.Take(owner, bytes) })
			reader.Start(list[owner])
			sources.Begin()
			for _, i := range assigned[g] {
				f := &only[i]
				if f.Open {
					f.Hi = min(f.Hi, reader.EndOf(f.Lo))
				}
				known[i], rows[i] = true, reader.Of(f.Lo, f.Hi)
			}
			unnamed[g] = sources.End()
			if errors.Is(unnamed[g], losses.ErrInTurn) {
				return unnamed[g]
			}
			if unnamed[g] != nil {
				forget(g)
			}

			// Another goroutine may release the records from here on.
			_ = reader.Settle() // Keep has the error, too
			if budget.Keep(owner, func() { forget(g) }) != nil {
				forget(g)
			}
			return nil
		}
	})

	var lost losses.List
	for g := range groups {
		err := cmp.Or(budget.Dropped(groups[g].Owner), unnamed[g])
		if err != nil && len(assigned[g]) > 0 {
			lost.AddIn(img.DWARF().Path(), groups[g].Locate(err, list))
		}
	}

	// Symbols that no line table has a row for are left to PUBLIC records.
	var out []record.Func
	var demangler demangle.Demangler
	for i, f := range only {
		if known[i] {
			name := names.SymbolText(syms.At(f.Lo)[0].Name, &demangler)
			out = append(out, record.Func{Addr: f.Lo - load, Size: f.Hi - f.Lo, Name: name, Lines: rows[i]})
		}
	}
	return out, lost, err
}

// mergeRecords returns one list of two, each by address.
func mergeRecords(a, b []record.Func) []record.Func {
	return par.Merge(a, b, func(a, b record.Func) int { return cmp.Compare(a.Addr, b.Addr) })
}
