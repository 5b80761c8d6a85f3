package load

import (
	"cmp"
	"fmt"
	"slices"

	"symkit/dump/dwarfx"
	"symkit/elfx"
	"symkit/internal/par"
)

// openAlt opens dwz's supplementary file, with what other files have in common, or
// warns if it was not found.
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
	link, err := x.file.AltLink()
	if x.alt == nil && err == nil && link.Path != "" && len(x.units) > 0 {
		x.lost.Miss("%s: the supplementary file %q was not found: functions and inlined calls that are described there have their symbol's name or none",
			x.file.Path(), link.Path)
	}
}

// readSplits replaces skeletons by the split units that belong to them, and scans
// these.
func (x *loader) readSplits() error {
	if !slices.ContainsFunc(x.units, func(u *Unit) bool { return u.Split != 0 }) {
		return nil
	}
	pkg, err := x.openPackage()
	if err != nil {
		return err
	}

	results := make([]splitResult, len(x.units))
	err = par.Each(x.ctx, x.opt.Jobs, len(x.units), func() func(int) error {
		scan := &scanner{inlines: x.opt.Inlines}
		return func(i int) error {
			u := x.units[i]
			if u.Split == 0 {
				return nil
			}
			results[i] = x.openSplit(u.Unit, pkg)
			if results[i].unit != nil {
				x.units[i] = &Unit{Unit: results[i].unit, Lines: u.Lines, index: i}
				scan.unit(x.units[i])
			}
			return nil
		}
	})
	for _, r := range results {
		if r.unit != nil {
			x.share.All += r.unit.End - r.unit.Off
		}
	}

	missing, first := 0, ""
	for _, r := range results {
		for _, err := range r.errs {
			x.lost.AddIn(r.file, err)
		}
		if r.unit == nil && r.file != "" {
			missing++
			first = cmp.Or(first, r.file)
		}
	}
	if missing > 0 {
		x.lost.Miss("%s: the functions of %d units are in split DWARF files that were not found or do not fit, the first %q%s; give --dwo-dir",
			x.file.Path(), missing, first, pkg.lacks())
	}
	return err
}

// splitPackage is an opened .dwp file.
type splitPackage struct {
	*dwarfx.Package
	path string
}

// lacks says of the package, if there is one, that it lacks the units.
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
	return &splitPackage{pkg, f.Path()}, nil
}

// splitResult is the split unit of a skeleton, nil where there is none, and the
// file that it is in or should be in.
type splitResult struct {
	unit *dwarfx.Unit
	file string
	errs []error // damage
}

// openSplit finds the split unit of skeleton u.
func (x *loader) openSplit(u *dwarfx.Unit, pkg *splitPackage) (r splitResult) {
	if pkg != nil {
		unit, found, errs := pkg.OpenSplit(u)
		if found {
			return splitResult{unit, pkg.path, errs}
		}
	}
	name, _ := u.String(u.Split)
	r.file = string(name)
	if x.opt.Companions == nil {
		return r
	}
	compDir, _ := u.String(u.CompDir)
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
		r = splitResult{unit, f.Path(), errs}
	}
	return r
}

// readSplit finds the split unit of skeleton u in f, a .dwo file. Where that
// fails, the last error tells why.
func readSplit(u *dwarfx.Unit, f *elfx.File) (unit *dwarfx.Unit, errs []error) {
	var s dwarfx.Sections
	s.BigEndian = f.BigEndian
	for name, data := range map[string]*[]byte{
		".debug_info.dwo": &s.Info, ".debug_abbrev.dwo": &s.Abbrev, ".debug_str.dwo": &s.Str,
		".debug_str_offsets.dwo": &s.StrOffsets, ".debug_rnglists.dwo": &s.RngLists, ".debug_types.dwo": &s.Types,
	} {
		var err error
		if *data, err = f.SectionData(name); err != nil {
			errs = append(errs, err)
		}
	}
	unit, more := u.Data().OpenSplit(u, s)
	return unit, append(errs, more...)
}
