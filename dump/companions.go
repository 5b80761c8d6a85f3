package dump

import (
	"fmt"

	"symkit/dump/dwarfx"
	"symkit/elfx"
)

// openAlt makes dwz's supplementary file readable from dw, the DWARF of f.
func (d *dumper) openAlt(dw *dwarfx.Data, f *elfx.File) error {
	if d.opt.Companions != nil && d.opt.Companions.Alt != nil {
		alt := d.opt.Companions.Alt
		s, err := d.sections(alt, "")
		if err != nil {
			return err
		}
		var lost []error
		dw.Alt, lost = dwarfx.Open(s, d.code)
		for _, err := range lost {
			d.loss(fmt.Errorf("%s: %w", alt.Path(), err))
		}
		return nil
	}
	if link, err := f.AltLink(); err == nil && link.Path != "" {
		d.missing("%s: the supplementary file %q was not found: functions that are named there have no names", f.Path(), link.Path)
	}
	return nil
}

// openSplits replaces skeletons by the split units that belong to them, which it
// returns.
func (d *dumper) openSplits(f *elfx.File) (splits []*unit, err error) {
	pkg, err := d.openPackage()
	if err != nil {
		return nil, err
	}
	type result struct {
		unit *dwarfx.Unit
		file string
		errs []error
	}
	results := make([]result, len(d.units))
	err = d.each(len(d.units), func() func(int) error {
		return func(i int) error {
			if u := d.units[i].Unit; u.Split != 0 {
				r := &results[i]
				r.unit, r.file, r.errs = d.openSplit(u, pkg)
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
		d.missing("%s: the functions of %d units are in split DWARF files that were not found or do not fit, the first %q; give --dwo-dir", f.Path(), missing, first)
	}
	return splits, err
}

// openPackage reads the .dwp file, if there is one.
func (d *dumper) openPackage() (*dwarfx.Package, error) {
	if d.opt.Companions == nil || d.opt.Companions.DWP == nil {
		return nil, nil
	}
	f := d.opt.Companions.DWP
	s, err := d.sections(f, ".dwo")
	if err != nil {
		return nil, err
	}
	index, err := f.SectionData(".debug_cu_index")
	if err != nil {
		d.loss(err)
		return nil, nil
	}
	pkg, err := dwarfx.OpenPackage(s, index)
	if err != nil {
		d.loss(fmt.Errorf("%s: %w", f.Path(), err))
		return nil, nil
	}
	return pkg, nil
}

// openSplit finds the split unit of skeleton u. It returns the name of the file
// too, and no unit where there is none.
func (d *dumper) openSplit(u *dwarfx.Unit, pkg *dwarfx.Package) (split *dwarfx.Unit, name string, errs []error) {
	if pkg != nil {
		if s, ok := pkg.Unit(u.SplitID()); ok {
			split, errs = u.Data().OpenSplit(u, s)
			return split, d.opt.Companions.DWP.Path(), errs
		}
	}
	dwo, _ := u.Data().String(u.Split)
	if d.opt.Companions == nil {
		return nil, string(dwo), nil
	}
	compDir, _ := u.Data().String(u.CompDir)
	f := d.opt.Companions.OpenSplit(string(compDir), string(dwo))
	if f == nil {
		return nil, string(dwo), nil
	}
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
	split, more := u.Data().OpenSplit(u, s)
	return split, f.Path(), append(errs, more...)
}
