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
	// origins are what the unit's inlined calls are of.
	origins []naming
	err     error // damage met in the scan
	overlap int   // functions in which inlined calls side by side share code
}

// sectionOf is one of the sections that dwarfx reads.
type sectionOf struct {
	name string
	data *[]byte
}

// sectionsOf lists the sections of s but .debug_info: those that the scan needs
// first.
func sectionsOf(s *dwarfx.Sections) []sectionOf {
	return []sectionOf{
		{".debug_abbrev", &s.Abbrev}, {".debug_rnglists", &s.RngLists}, {".debug_ranges", &s.Ranges},
		{".debug_addr", &s.Addr}, {".debug_str_offsets", &s.StrOffsets}, {".debug_types", &s.Types},
		{".debug_line", &s.Line}, {".debug_str", &s.Str}, {".debug_line_str", &s.LineStr},
	}
}

// sections inflates the DWARF sections of f, on all goroutines. Those of split
// DWARF have names that end in suffix.
func (d *dumper) sections(f *elfx.File, suffix string) (dwarfx.Sections, error) {
	s := dwarfx.Sections{BigEndian: f.BigEndian, AddrSize: f.AddrSize()}
	wanted := append(sectionsOf(&s), sectionOf{".debug_info", &s.Info})
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

// readCompanions opens what else holds debug information, and scans the split
// units found there.
func (d *dumper) readCompanions() error {
	f := d.img.DWARF()
	if err := d.openAlt(d.dw, f); err != nil {
		return err
	}
	splits, err := d.openSplits(f)
	if err != nil {
		return err
	}
	err = d.each(len(splits), func() func(int) error {
		var scan dwarfx.Scan
		return func(i int) error {
			d.scan(splits[i], &scan)
			return nil
		}
	})
	for _, u := range d.units {
		d.dwarfLoss(u.err)
	}
	d.m.Stats.Units = len(d.units)
	return err
}

// scan reads the functions and inlined calls of u.
func (d *dumper) scan(u *unit, scratch *dwarfx.Scan) {
	u.err = u.Data().ScanUnit(u.Unit, d.opt.Inlines, scratch)
	u.Funcs = slices.Clone(scratch.Funcs)
	u.Inlines = slices.Clone(scratch.Inlines)
	u.Ranges = slices.Clone(scratch.Ranges)
}
