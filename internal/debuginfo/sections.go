// Package debuginfo opens the DWARF of a module: the sections of its files, dwz's supplementary
// file, and split units in .dwo files and .dwp packages.
//
// Damage costs the section or the unit that it is in, and is returned beside what could be read.
package debuginfo

import (
	"context"
	"debug/elf"
	"sync"

	"symkit/elfx"
	"symkit/internal/dwarfx"
	"symkit/internal/par"
	"symkit/limits"
)

// Section is one of the sections that dwarfx reads.
type Section struct {
	Name string
	Data *[]byte
}

// Header returns Sections of f without any bytes.
func Header(f *elfx.File, size uint64, lim limits.Limits) dwarfx.Sections {
	return dwarfx.Sections{BigEndian: f.BigEndian, AddrSize: f.AddrSize(), ISABit: f.Machine == elf.EM_MIPS, Limits: lim, FileSize: size}
}

// SectionsOf lists the sections of s but .debug_info and .debug_abbrev: the largest
// first, and .debug_line last, which is needed last.
func SectionsOf(s *dwarfx.Sections) []Section {
	return []Section{
		{".debug_str", &s.Str}, {".debug_rnglists", &s.RngLists}, {".debug_ranges", &s.Ranges},
		{".debug_addr", &s.Addr}, {".debug_str_offsets", &s.StrOffsets}, {".debug_types", &s.Types},
		{".debug_line_str", &s.LineStr}, {".debug_line", &s.Line},
	}
}

// Read inflates sections of f on so many goroutines. The sections of split DWARF have names
// that end in suffix. errs has the damage of each section, or nil; err is the end of ctx.
func Read(ctx context.Context, jobs int, f *elfx.File, wanted []Section, suffix string) (errs []error, err error) {
	errs = make([]error, len(wanted))
	err = par.For(ctx, jobs, len(wanted), func(i int) error {
		*wanted[i].Data, errs[i] = f.SectionData(wanted[i].Name + suffix)
		return nil
	})
	return errs, err
}

// ReadAll inflates all DWARF sections of f.
func ReadAll(ctx context.Context, jobs int, f *elfx.File, suffix string, lim limits.Limits) (s dwarfx.Sections, errs []error, err error) {
	s = Header(f, uint64(f.Size()), lim)
	wanted := append([]Section{{".debug_info", &s.Info}, {".debug_abbrev", &s.Abbrev}}, SectionsOf(&s)...) // the largest first
	errs, err = Read(ctx, jobs, f, wanted, suffix)
	s.Locations = locations(f, suffix)
	return s, errs, err
}

// locations returns the function that reads the location lists of f, once.
func locations(f *elfx.File, suffix string) func() (dwarfx.Locations, error) {
	return sync.OnceValues(func() (l dwarfx.Locations, err error) {
		l.Loc, err = f.SectionData(".debug_loc" + suffix)
		if err == nil {
			l.LocLists, err = f.SectionData(".debug_loclists" + suffix)
		}
		return l, err
	})
}

// CodeMap returns the ranges of code: the executable sections. An executable segment
// may hold the ELF header too, and then address 0 of a shared library, which is a
// tombstone; so segments are used only for a file without sections.
func CodeMap(f *elfx.File) dwarfx.CodeMap {
	var ranges []dwarfx.Range
	for i := range f.Sections {
		s := &f.Sections[i]
		if s.Flags&elf.SHF_EXECINSTR != 0 && s.Flags&elf.SHF_ALLOC != 0 {
			ranges = append(ranges, dwarfx.Range{Lo: s.Addr, Hi: s.Addr + s.Size})
		}
	}
	if ranges == nil {
		ranges = f.ExecRanges()
	}
	return dwarfx.NewCodeMap(ranges)
}
