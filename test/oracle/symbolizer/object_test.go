//go:build oracle

package symbolizer

import (
	"cmp"
	"debug/elf"
	"encoding/binary"
	"slices"
	"testing"

	"symkit/test/oracle"
	"symkit/test/oracle/symfile"
)

// object is a relocatable object, read with debug/elf, whose sections are laid out as
// libdwfl does.
type object struct {
	oracle.Layout
	base  []uint64 // address of each section, by index
	names []string
	// frames are the sections of the code of FDEs in .debug_frame, by offset.
	frames map[uint64]int
	funcs  []oracle.Span // of symbols
}

func readObject(t *testing.T, path string) *object {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	defer f.Close()

	o := &object{Layout: oracle.Layout{Machine: f.Machine}, base: make([]uint64, len(f.Sections)), frames: map[uint64]int{}}
	next := uint64(0)
	for i, s := range f.Sections {
		o.names = append(o.names, s.Name)
		if s.Flags&elf.SHF_ALLOC == 0 {
			continue
		}
		align := max(s.Addralign, 1)
		next = (next + align - 1) / align * align
		o.base[i] = next
		if s.Flags&elf.SHF_EXECINSTR != 0 && s.Size > 0 {
			o.Code = append(o.Code, oracle.Span{Lo: next, Hi: next + s.Size})
		}
		next += s.Size
	}

	symbols, err := f.Symbols()
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}

	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC && int(s.Section) < len(o.base) {
			lo := o.base[s.Section] + s.Value
			o.funcs = append(o.funcs, oracle.Span{Lo: lo, Hi: lo + s.Size})
		}
	}

	slices.SortFunc(o.funcs, func(a, b oracle.Span) int { return cmp.Compare(a.Lo, b.Lo) })
	if s := f.Section(".rela.debug_frame"); s != nil {
		o.readFrames(t, f, s, symbols)
	}
	return o
}

// readFrames finds the section that each relocated field of .debug_frame refers to;
// initial_location is one.
func (o *object) readFrames(t *testing.T, f *elf.File, s *elf.Section, symbols []elf.Symbol) {
	t.Helper()
	data, err := s.Data()
	if err != nil || f.Class != elf.ELFCLASS64 {
		t.Fatalf("%s: %v", s.Name, err)
	}
	for ; len(data) >= 24; data = data[24:] {
		at, info := binary.LittleEndian.Uint64(data), binary.LittleEndian.Uint64(data[8:])
		o.frames[at] = int(symbols[info>>32-1].Section)
	}
}

// inFunction reports whether the function of a symbol has pc.
func (o *object) inFunction(pc uint64) bool {
	return slices.ContainsFunc(o.funcs, func(f oracle.Span) bool { return pc >= f.Lo && pc < f.Hi })
}

// binutils asks addr2line of binutils, by section and offset: there, every section is
// at address 0.
func (o *object) binutils(t *testing.T, path string, pc uint64) symfile.Stack {
	t.Helper()
	for i := len(o.base) - 1; i > 0; i-- {
		if o.base[i] <= pc && slices.ContainsFunc(o.Code, func(s oracle.Span) bool { return s.Lo == o.base[i] && pc < s.Hi }) {
			return pairs(t, feed(t, []uint64{pc - o.base[i]}, "addr2line", "-a", "-i", "-f", "-j", o.names[i], "-e", path))[0]
		}
	}
	t.Fatalf("%s: %#x is in no section", path, pc)
	return nil
}
