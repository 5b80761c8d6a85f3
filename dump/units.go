package dump

import (
	"slices"

	"symkit/dump/dwarfx"
	"symkit/elfx"
)

// unit is a unit and what it yielded.
type unit struct {
	*dwarfx.Unit
	dwarfx.Scan
	// lines is the unit whose line table is meant: of a split unit, its
	// skeleton.
	lines *dwarfx.Unit
	funcs []uint32 // of dumper.funcs: those that this unit's line table is for
}

// openDWARF inflates the sections and reads the unit headers.
func (d *dumper) openDWARF() error {
	f := d.img.DWARF()
	s, err := d.sections(f, "")
	if err != nil {
		return err
	}
	dw, lost := dwarfx.Open(s, d.code)
	for _, err := range lost {
		d.dwarfLoss(err)
	}
	if err := d.openAlt(dw, f); err != nil {
		return err
	}
	d.units = make([]unit, len(dw.Units))
	for i := range dw.Units {
		u := &dw.Units[i]
		d.units[i] = unit{Unit: u, lines: u}
	}
	return d.openSplits(f)
}

// sections inflates the DWARF sections of f, concurrently. Those of split DWARF
// have names that end in suffix.
func (d *dumper) sections(f *elfx.File, suffix string) (dwarfx.Sections, error) {
	s := dwarfx.Sections{BigEndian: f.BigEndian, AddrSize: f.AddrSize()}
	wanted := []struct {
		name string
		data *[]byte
	}{
		{".debug_info", &s.Info}, {".debug_line", &s.Line}, {".debug_str", &s.Str},
		{".debug_line_str", &s.LineStr}, {".debug_abbrev", &s.Abbrev}, {".debug_types", &s.Types},
		{".debug_rnglists", &s.RngLists}, {".debug_ranges", &s.Ranges},
		{".debug_str_offsets", &s.StrOffsets}, {".debug_addr", &s.Addr},
	}
	errs := make([]error, len(wanted))
	err := d.each(len(wanted), func() func(int) error {
		return func(i int) error {
			*wanted[i].data, errs[i] = f.SectionData(wanted[i].name + suffix)
			return nil
		}
	})
	for _, err := range errs {
		d.loss(err)
	}
	return s, err
}

// scanUnits reads every unit's functions and inlined calls.
func (d *dumper) scanUnits() error {
	errs := make([]error, len(d.units))
	err := d.each(len(d.units), func() func(int) error {
		var scan dwarfx.Scan
		return func(i int) error {
			u := &d.units[i]
			errs[i] = u.Data().ScanUnit(u.Unit, d.opt.Inlines, &scan)
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
