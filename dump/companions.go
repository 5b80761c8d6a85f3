package dump

import (
	"fmt"
	"slices"

	"symkit/dump/dwarfx"
	"symkit/elfx"
)

// hasAlt tells whether there is a supplementary file of dwz, with what the others
// have in common.
func (d *dumper) hasAlt() bool { return d.opt.Companions != nil && d.opt.Companions.Alt != nil }

// openAlt makes dwz's supplementary file readable from dw, the DWARF of f.
func (d *dumper) openAlt(dw *dwarfx.Data, f *elfx.File) error {
	if d.hasAlt() {
		alt := d.opt.Companions.Alt
		s, err := d.sections(alt, "")
		if err != nil {
			return err
		}
		data, lost := dwarfx.Open(s, d.code)
		dw.SetAlt(data)
		for _, err := range lost {
			d.loss(fmt.Errorf("%s: %w", alt.Path(), err))
		}
		return nil
	}
	if link, err := f.AltLink(); err == nil && link.Path != "" && len(d.units) > 0 {
		d.missing("%s: the supplementary file %q was not found: functions and inlined calls that are described there have their symbol's name or none", f.Path(), link.Path)
	}
	return nil
}

// openSplits replaces skeletons by the split units that belong to them, which it
// returns.
func (d *dumper) openSplits(f *elfx.File) (splits []*unit, err error) {
	if !slices.ContainsFunc(d.units, func(u *unit) bool { return u.Split != 0 }) {
		return nil, nil
	}
	pkg, err := d.openPackage()
	if err != nil {
		return nil, err
	}
	results := make([]splitResult, len(d.units))
	err = d.each(len(d.units), func() func(int) error {
		return func(i int) error {
			if u := d.units[i].Unit; u.Split != 0 {
				results[i] = d.openSplit(u, pkg)
			}
			return nil
		}
	})
	missing, first := 0, ""
	for i, r := range results {
		for _, err := range r.errs {
			d.loss(fmt.Errorf("%s: %w", r.file, err))
		}
		switch {
		case r.unit != nil:
			d.units[i].Unit = r.unit
			splits = append(splits, d.units[i])
		case r.file != "":
			if missing++; first == "" {
				first = r.file
			}
		}
	}
	if missing > 0 {
		d.missing("%s: the functions of %d units are in split DWARF files that were not found or do not fit, the first %q%s; give --dwo-dir",
			f.Path(), missing, first, pkg.without())
	}
	return splits, err
}

// splitPackage is an opened .dwp file.
type splitPackage struct {
	*dwarfx.Package
	path string
}

// without says of the package, if there is one, that it lacks the units.
func (p *splitPackage) without() string {
	if p == nil {
		return ""
	}
	return fmt.Sprintf(", and %s does not have them", p.path)
}

// openPackage reads the .dwp file, if there is one.
func (d *dumper) openPackage() (*splitPackage, error) {
	if d.opt.Companions == nil {
		return nil, nil
	}
	f := d.opt.Companions.OpenPackage()
	if f == nil {
		return nil, nil
	}
	s, err := d.sections(f, ".dwo")
	if err != nil {
		return nil, err
	}
	units, err := f.SectionData(".debug_cu_index")
	if err != nil {
		d.loss(err)
		return nil, nil
	}
	types, err := f.SectionData(".debug_tu_index")
	d.loss(err)
	pkg, err := dwarfx.OpenPackage(s, units, types)
	if err != nil {
		d.loss(fmt.Errorf("%s: %w", f.Path(), err))
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
func (d *dumper) openSplit(u *dwarfx.Unit, pkg *splitPackage) (r splitResult) {
	if pkg != nil {
		if unit, found, errs := pkg.OpenSplit(u); found {
			return splitResult{unit, pkg.path, errs}
		}
	}
	name, _ := u.String(u.Split)
	r.file = string(name)
	if d.opt.Companions == nil {
		return r
	}
	compDir, _ := u.String(u.CompDir)
	var unit *dwarfx.Unit
	var errs []error
	f := d.opt.Companions.OpenSplit(string(compDir), r.file, func(f *elfx.File) error {
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
