package load

import (
	"cmp"
	"fmt"
	"slices"

	"symkit/elfx"
	"symkit/elfx/companion"
	"symkit/internal/bounds"
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
	s, err := x.allSections(others.Alt, "")
	if err != nil {
		return err
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

	results := make([]splitResult, len(x.units))
	budget := x.newSplitBudget(pkg)
	err = par.Each(x.ctx, x.opt.Jobs, len(x.units), func() func(int) error {
		var scan dwarfx.Scan
		return func(i int) error {
			u := x.units[i]
			if u.Split == 0 {
				return nil
			}

			// The line table stays in the file of the skeleton.
			results[i] = x.openSplit(u.Unit, pkg)
			if results[i].unit != nil {
				split := &Unit{Unit: results[i].unit, Lines: u.Lines, index: i}
				pay := budget.of(split, results[i].size)
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
		for _, err := range r.errs {
			x.lost.AddIn(r.file, err)
		}
		switch {
		case r.unit != nil:
			x.share.All += r.unit.End - r.unit.Off
		case r.file != "":
			missing++
			first = cmp.Or(first, r.file)
		}
	}
	if missing > 0 {
		x.lost.Miss("%s: the functions of %s units are in split DWARF files that were not found or do not fit, the first %q%s; give their directory with --dwo-dir",
			x.file.Path(), quantity.Number(missing), first, pkg.lacks())
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
func (x *loader) newSplitBudget(pkg *splitPackage) *splitBudget {
	b := &splitBudget{first: map[uint64]int{}, limits: x.opt.Limits}
	size := x.img.Size()
	if pkg != nil {
		size += pkg.size
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

// splitPackage is an opened .dwp file.
type splitPackage struct {
	*dwarfx.Package
	path string
	size uint64 // in bytes
}

// lacks returns the part of the warning about missing units that names the package.
func (p *splitPackage) lacks() string {
	if p == nil {
		return ""
	}
	return fmt.Sprintf(", and %s does not have them", p.path)
}

// openPackage reads the .dwp file, if there is one.
func (x *loader) openPackage() (*splitPackage, error) {
	if x.opt.Companions == nil {
		return nil, nil
	}
	f := x.opt.Companions.OpenPackage()
	if f == nil {
		return nil, nil
	}
	s, err := x.allSections(f, ".dwo")
	if err != nil {
		return nil, err
	}

	// Without its index the package cannot be read.
	units, err := f.SectionData(".debug_cu_index")
	if err != nil {
		x.lost.Add(err)
		return nil, nil
	}
	types, err := f.SectionData(".debug_tu_index")
	x.lost.Add(err)
	pkg, err := dwarfx.OpenPackage(s, units, types)
	if err != nil {
		x.lost.AddIn(f.Path(), err)
		return nil, nil
	}
	return &splitPackage{pkg, f.Path(), uint64(f.Size())}, nil
}

// splitResult is the split unit of a skeleton, or nil if there is none, and the file
// that the split unit is in or should be in.
type splitResult struct {
	unit *dwarfx.Unit
	file string
	size uint64  // of a .dwo file; 0 in a package
	errs []error // damage
}

// openSplit finds the split unit of skeleton u.
func (x *loader) openSplit(u *dwarfx.Unit, pkg *splitPackage) (r splitResult) {
	if pkg != nil {
		unit, found, errs := pkg.OpenSplit(u)
		if found {
			return splitResult{unit, pkg.path, 0, errs}
		}
	}

	// DW_AT_dwo_name is relative to DW_AT_comp_dir (DWARF 5 §3.1.2).
	name, _ := u.String(u.Split)
	r.file = string(name)
	if x.opt.Companions == nil {
		return r
	}
	compDir, _ := u.String(u.CompDir)

	// A file that has another unit, such as one of a later build, does not count.
	var unit *dwarfx.Unit
	var errs []error
	f := x.opt.Companions.OpenSplit(string(compDir), r.file, func(f *elfx.File) error {
		unit, errs = readSplit(u, f)
		if unit == nil {
			return errs[len(errs)-1]
		}
		return nil
	})
	if f != nil {
		r = splitResult{unit, f.Path(), uint64(f.Size()), errs}
	}
	return r
}

// readSplit finds the split unit of skeleton u in f, a .dwo file. If unit is nil, the
// last error is the reason.
func readSplit(u *dwarfx.Unit, f *elfx.File) (unit *dwarfx.Unit, errs []error) {
	s := dwarfx.Sections{BigEndian: f.BigEndian, FileSize: uint64(f.Size())}
	for _, section := range []sectionOf{ // a list, so that the errors are in order
		{".debug_info.dwo", &s.Info}, {".debug_abbrev.dwo", &s.Abbrev}, {".debug_str.dwo", &s.Str},
		{".debug_str_offsets.dwo", &s.StrOffsets}, {".debug_rnglists.dwo", &s.RngLists}, {".debug_types.dwo", &s.Types},
	} {
		var err error
		*section.data, err = f.SectionData(section.name)
		if err != nil {
			errs = append(errs, err)
		}
	}
	unit, more := u.Data().OpenSplit(u, s)
	return unit, append(errs, more...)
}
