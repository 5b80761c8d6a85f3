package dump

import (
	"slices"

	"symkit/dump/dwarfx"
	"symkit/elfx"
)

// unit is a unit and what it yielded.
type unit struct {
	*dwarfx.Unit
	Funcs []dwarfx.Func // their Ranges are of ranges, their Inlines of calls
	// calls are as the scan found them: their CallFile is the unit's, their Origin an
	// index of refs, their Ranges of ranges. What lasts of them becomes the
	// module's in the same place, as do its ranges.
	calls  []inline
	refs   []dwarfx.Ref // what the calls are of, each once
	ranges *rangeList
	// namings are what names Funcs, until they have numbers.
	namings []naming
	// lines is the unit whose line table is meant: of a split unit, its
	// skeleton.
	lines   *dwarfx.Unit
	funcs   []uint32 // of dumper.funcs: those that this unit's line table is for
	origins []uint32 // of each of refs, its name's number in dumper.names
	compDir []byte   // that lines belongs to
	err     error    // damage met in the scan
	piece   *piece   // that the unit's bytes are in
	// callCount is how many inlined calls the scan found, lostCalls how many of these a limit cost.
	callCount, lostCalls int
	overlap              int // functions in which inlined calls side by side share code
}

// sectionOf is one of the sections that dwarfx reads.
type sectionOf struct {
	name string
	data *[]byte
}

// sectionsOf lists the sections of s but .debug_info and .debug_line: those that
// the scan needs first.
func sectionsOf(s *dwarfx.Sections) []sectionOf {
	return []sectionOf{
		{".debug_str", &s.Str}, {".debug_abbrev", &s.Abbrev}, {".debug_rnglists", &s.RngLists}, {".debug_ranges", &s.Ranges},
		{".debug_addr", &s.Addr}, {".debug_str_offsets", &s.StrOffsets}, {".debug_types", &s.Types},
		{".debug_line_str", &s.LineStr},
	}
}

// sections inflates the DWARF sections of f, on all goroutines. Those of split
// DWARF have names that end in suffix.
func (d *dumper) sections(f *elfx.File, suffix string) (dwarfx.Sections, error) {
	s := dwarfx.Sections{BigEndian: f.BigEndian, AddrSize: f.AddrSize()}
	wanted := append(sectionsOf(&s), sectionOf{".debug_info", &s.Info}, sectionOf{".debug_line", &s.Line})
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
		scanner := d.newScanner()
		return func(i int) error {
			scanner.unit(splits[i])
			return nil
		}
	})
	for _, u := range d.units {
		d.dwarfLoss(u.err)
		d.m.Stats.FuncShare.add(rest(u.err, u.Off, u.End), d.inDWARF(u.err))
	}
	for _, u := range splits {
		d.m.Stats.FuncShare.All += u.End - u.Off
	}
	d.m.Stats.Units = len(d.units)
	return err
}

// unitScanner scans units. Its memory is used again.
type unitScanner struct {
	d    *dumper
	scan dwarfx.Scan
}

// manyFuncs is from how many functions on a unit keeps the scan's own list, not a copy.
const manyFuncs = 1 << 14

func (d *dumper) newScanner() *unitScanner {
	return &unitScanner{d: d}
}

// unit reads the functions and inlined calls of u.
func (x *unitScanner) unit(u *unit) {
	u.err = u.Data().ScanUnit(u.Unit, x.d.opt.Inlines, &x.scan)
	if u.Funcs = x.scan.Funcs; len(u.Funcs) < manyFuncs {
		u.Funcs = slices.Clone(u.Funcs)
	} else {
		x.scan.Funcs = nil
	}
	u.ranges = newRangeList(x.scan.Ranges)
	if len(x.scan.Inlines) == 0 {
		return
	}
	u.callCount = len(x.scan.Inlines)
	u.calls = make([]inline, u.callCount)
	elfx.Populate(u.calls)
	copy(u.calls, x.scan.Inlines)
	u.refs = slices.Clone(x.scan.Origins)
}
