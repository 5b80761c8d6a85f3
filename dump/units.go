package dump

import (
	"cmp"
	"slices"

	"symkit/dump/dwarfx"
	"symkit/elfx"
)

// unit is a unit and what it yielded.
type unit struct {
	*dwarfx.Unit
	dwarfx.Scan
	funcs []uint32 // of dumper.funcs: those that this unit's line table is for
}

// openDWARF inflates the sections and reads the unit headers.
func (d *dumper) openDWARF() error {
	f := d.img.DWARF()
	s := dwarfx.Sections{BigEndian: f.BigEndian, AddrSize: f.AddrSize()}
	wanted := []struct {
		name string
		data *[]byte
	}{
		{".debug_info", &s.Info}, {".debug_line", &s.Line}, {".debug_str", &s.Str},
		{".debug_line_str", &s.LineStr}, {".debug_abbrev", &s.Abbrev},
		{".debug_rnglists", &s.RngLists}, {".debug_ranges", &s.Ranges},
		{".debug_str_offsets", &s.StrOffsets}, {".debug_addr", &s.Addr},
	}
	errs := make([]error, len(wanted))
	err := d.each(len(wanted), func() func(int) error {
		return func(i int) error {
			*wanted[i].data, errs[i] = f.SectionData(wanted[i].name)
			return nil
		}
	})
	for _, err := range errs {
		d.loss(err)
	}
	if err != nil {
		return err
	}
	dw, lost := dwarfx.Open(s, d.code)
	for _, err := range lost {
		d.dwarfLoss(err)
	}
	d.dw = dw
	d.warnCompanions(f)
	return nil
}

// warnCompanions tells of files that hold a part of the debug information and
// are not read.
func (d *dumper) warnCompanions(f *elfx.File) {
	split, first := 0, dwarfx.Str(0)
	for i := range d.dw.Units {
		if s := d.dw.Units[i].Split; s != 0 {
			split++
			first = cmp.Or(first, s)
		}
	}
	if split > 0 {
		name, _ := d.dw.String(first)
		d.missing("%s: the functions of %d units are in split DWARF files that are not read, the first %q", f.Path(), split, name)
	}
	if link, err := f.AltLink(); err == nil && link.Path != "" {
		d.missing("%s: names and types are in a supplementary file that is not read: %q", f.Path(), link.Path)
	}
}

// scanUnits reads every unit's functions and inlined calls.
func (d *dumper) scanUnits() error {
	d.units = make([]unit, len(d.dw.Units))
	errs := make([]error, len(d.units))
	err := d.each(len(d.units), func() func(int) error {
		var scan dwarfx.Scan
		return func(i int) error {
			u := &d.units[i]
			u.Unit = &d.dw.Units[i]
			errs[i] = d.dw.ScanUnit(u.Unit, d.opt.Inlines, &scan)
			u.Funcs = slices.Clone(scan.Funcs)
			u.Inlines = slices.Clone(scan.Inlines)
			u.Ranges = slices.Clone(scan.Ranges)
			return nil
		}
	})
	for _, err := range errs {
		d.dwarfLoss(err)
	}
	d.m.Stats.Units = len(d.units)
	return err
}
