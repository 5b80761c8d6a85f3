package load

import (
	"cmp"
	"fmt"
	"slices"

	"symkit/elfx/companion"
	"symkit/internal/bounds"
	"symkit/internal/debuginfo"
	"symkit/internal/dwarfx"
	"symkit/internal/limitof"
	"symkit/internal/par"
	"symkit/internal/quantity"
	"symkit/limits"
)

// openAlt opens dwz's supplementary file, which holds the DIEs and strings that several
// files have in common.
func (x *loader) openAlt() error {
	others := x.opt.Companions
	if others == nil || others.Alt == nil {
		return nil
	}
	s, damage, err := debuginfo.ReadAll(x.ctx, x.opt.Jobs, others.Alt, "", x.opt.Limits)
	if err != nil {
		return err
	}
	for _, err := range damage {
		x.lost.Add(err)
	}

	data, errs := dwarfx.Open(s, x.opt.Code)
	x.alt = data
	for _, err := range errs {
		x.lost.AddIn(others.Alt.Path(), err)
	}
	return nil
}

// checkAlt warns if the file refers to a supplementary file that was not found.
func (x *loader) checkAlt() {
	link, err := companion.ReadAltLink(x.file)
	if x.alt == nil && err == nil && link.Path != "" && len(x.units) > 0 {
		x.lost.Miss("%s: the supplementary file %q was not found: functions and inlined calls that are described there have their symbol's name or none",
			x.file.Path(), link.Path)
	}
}

// readSplits replaces skeletons by the split units that belong to them, and scans the
// split units.
func (x *loader) readSplits() error {
	x.checkAlt()
	if !slices.ContainsFunc(x.units, func(u *Unit) bool { return u.Split != 0 }) {
		return nil
	}
	pkg, err := x.openPackage()
	if err != nil {
		return err
	}

	results := make([]debuginfo.Split, len(x.units))
	budget := x.newSplitBudget(pkg)
	err = par.Each(x.ctx, x.opt.Jobs, len(x.units), func() func(int) error {
		var scan dwarfx.Scan
		return func(i int) error {
			u := x.units[i]
			if u.Split == 0 {
				return nil
			}

			// The line table stays in the file of the skeleton.
			results[i] = debuginfo.OpenSplit(u.Unit, pkg, x.opt.Companions)
			if results[i].Unit != nil {
				split := &Unit{Unit: results[i].Unit, Part: results[i].Unit.Whole(), Lines: u.Lines, index: i}
				pay := budget.of(split, results[i].Size)
				_ = pay(dwarfx.UnitMemory * uint64(len(split.Data().Units))) // an error is that of the scan, too
				split.scan(&scan, x.opt.Inlines, pay)
				x.units[i] = split
				if budget.shared.Keep(i, split.forget) != nil {
					split.forget()
				}
			}
			return nil
		}
	})

	budget.cut(x.units)

	// One warning counts all units that are missing: there can be thousands.
	missing, first := 0, ""
	for _, r := range results {
		for _, err := range r.Errs {
			x.lost.AddIn(r.File, err)
		}
		switch {
		case r.Unit != nil:
			x.share.All += r.Unit.End - r.Unit.Off
		case r.File != "":
			missing++
			first = cmp.Or(first, r.File)
		}
	}
	if missing > 0 {
		x.lost.Miss("%s: the functions of %s units are in split DWARF files that were not found or do not fit, the first %q%s; give their directory with --dwo-dir",
			x.file.Path(), quantity.Number(missing), first, lacks(pkg))
	}
	return err
}

// splitBudget counts the memory that split units take, against the size of the files that they are in.
type splitBudget struct {
	shared *bounds.Shared
	first  map[uint64]int // by id: the first unit that has the id
	limits limits.Limits
}

// newSplitBudget returns a budget for the size of the program and the package, which may be nil.
func (x *loader) newSplitBudget(pkg *debuginfo.Package) *splitBudget {
	b := &splitBudget{first: map[uint64]int{}, limits: x.opt.Limits}
	size := x.img.Size()
	if pkg != nil {
		size += pkg.Size
	}
	b.shared = bounds.NewShared(x.opt.Limits, limitof.UnitRecords, size)
	for i, u := range x.units {
		_, known := b.first[u.DwoID()]
		if u.Split != 0 && !known {
			b.first[u.DwoID()] = i
		}
	}
	return b
}

// of returns the function that u, which is in a .dwo file of size bytes, calls to pay for its
// functions. The file gives what its bytes allow to the first unit that has its id alone.
func (b *splitBudget) of(u *Unit, size uint64) func(bytes uint64) error {
	free := b.limits.Max(limitof.UnitRecords, size) - b.limits.Max(limitof.UnitRecords, 0)
	if b.first[u.Unit.DwoID()] != u.index {
		free = 0
	}
	return func(bytes uint64) error {
		covered := min(bytes, free)
		free -= covered
		return b.shared.Take(u.index, bytes-covered)
	}
}

// cut gives the split units that were dropped their error.
func (b *splitBudget) cut(units []*Unit) {
	end, err := b.shared.End()
	for i := range units {
		u := units[i]
		if err != nil && i >= end && u.Unit != u.Lines {
			u.err = u.Located(err)
			u.forget()
		}
	}
}

// openPackage reads the .dwp file, if there is one.
func (x *loader) openPackage() (*debuginfo.Package, error) {
	if x.opt.Companions == nil {
		return nil, nil
	}
	pkg, errs, err := debuginfo.OpenPackage(x.ctx, x.opt.Jobs, x.opt.Companions, x.opt.Limits)
	for _, err := range errs {
		x.lost.Add(err)
	}
	return pkg, err
}

// lacks returns the part of the warning about missing units that names the package.
func lacks(p *debuginfo.Package) string {
	if p == nil {
		return ""
	}
	return fmt.Sprintf(", and %s does not have them", p.Path)
}
