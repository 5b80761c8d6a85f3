package load

import (
	"debug/elf"

	"symkit/elfx"
	"symkit/internal/dwarfx"
	"symkit/internal/par"
)

// sectionOf is one of the sections that dwarfx reads.
type sectionOf struct {
	name string
	data *[]byte
}

// sectionsOf lists the sections of s but .debug_info and .debug_abbrev: the largest
// first, and .debug_line last, which is needed last.
func sectionsOf(s *dwarfx.Sections) []sectionOf {
	return []sectionOf{
		{".debug_str", &s.Str}, {".debug_rnglists", &s.RngLists}, {".debug_ranges", &s.Ranges},
		{".debug_addr", &s.Addr}, {".debug_str_offsets", &s.StrOffsets}, {".debug_types", &s.Types},
		{".debug_line_str", &s.LineStr}, {".debug_line", &s.Line},
	}
}

// readSections inflates sections of f on all goroutines. The sections of split
// DWARF have names that end in suffix.
func (x *loader) readSections(f *elfx.File, wanted []sectionOf, suffix string) error {
	errs := make([]error, len(wanted))
	err := par.For(x.ctx, x.opt.Jobs, len(wanted), func(i int) error {
		*wanted[i].data, errs[i] = f.SectionData(wanted[i].name + suffix)
		return nil
	})
	for i, err := range errs {
		x.lost.Add(err)
		if f == x.file && wanted[i].name == ".debug_line" {
			x.lineErr = err
		}
	}
	return err
}

// allSections inflates all DWARF sections of f.
func (x *loader) allSections(f *elfx.File, suffix string) (dwarfx.Sections, error) {
	s := dwarfx.Sections{BigEndian: f.BigEndian, AddrSize: f.AddrSize(), ISABit: f.Machine == elf.EM_MIPS, Limits: x.opt.Limits, FileSize: uint64(f.Size())}
	wanted := append(sectionsOf(&s), sectionOf{".debug_info", &s.Info}, sectionOf{".debug_abbrev", &s.Abbrev})
	err := x.readSections(f, wanted, suffix)
	return s, err
}
