package elfx

import (
	"cmp"
	"debug/elf"
	"errors"
	"math"
	"slices"

	"symkit/internal/wire"
)

// ErrNoFirst: e_phnum refers to section header 0, which does not exist (gABI, "ELF
// Header": PN_XNUM).
var ErrNoFirst = errors.New("program header count kept in a missing section header")

// pnXNum in e_phnum means that the count is in sh_info of section header 0.
const pnXNum = 0xffff

// ptGNUSFrame is the segment of .sframe (PT_GNU_SFRAME).
const ptGNUSFrame = elf.ProgType(0x6474e554)

// Segment is one program header (gABI, "Program Header").
type Segment struct {
	Type   elf.ProgType
	Flags  elf.ProgFlag
	Offset uint64 // file offset
	Vaddr  uint64 // virtual address
	Filesz uint64 // bytes in the file
	Memsz  uint64 // bytes in memory
	Align  uint64
}

// Range is a half-open range of virtual addresses, [Lo, Hi).
type Range struct{ Lo, Hi uint64 }

// readSegments reads the program header table. Section header 0 is first, or nil.
func (f *File) readSegments(t tables, first *Section) error {
	// The escape value in e_phnum refers to section header 0.
	if t.phnum == pnXNum {
		if first == nil {
			return f.headerField(fieldPhnum, ErrNoFirst)
		}
		t.phnum = uint64(first.Info)
	}
	if t.phnum == 0 || t.phoff == 0 {
		return nil
	}

	// An entry of another size than the class's would shift every field.
	size := f.byClass(32, 56)
	if uint64(t.phentsize) != size {
		return f.headerField(fieldPhentsize, ErrEntrySize)
	}
	data, err := f.at(programHeaders, t.phoff, t.phnum*size)
	if err != nil {
		return err
	}

	c := f.cursor(programHeaders, data)
	segments := make([]Segment, t.phnum)
	for i := range segments {
		f.readSegment(&c, &segments[i])
	}
	f.Segments = segments
	return c.Err()
}

// readSegment reads one header. The position of p_flags depends on the class.
func (f *File) readSegment(c *wire.Cursor, s *Segment) {
	word := f.AddrSize()
	s.Type = elf.ProgType(c.U32())
	if f.Class == elf.ELFCLASS64 {
		s.Flags = elf.ProgFlag(c.U32())
	}
	s.Offset = c.Uint(word)
	s.Vaddr = c.Uint(word)
	c.Skip(uint64(word)) // p_paddr
	s.Filesz = c.Uint(word)
	s.Memsz = c.Uint(word)
	if f.Class == elf.ELFCLASS32 {
		s.Flags = elf.ProgFlag(c.U32())
	}
	s.Align = c.Uint(word)
}

// segment returns the first program header of a type, or nil.
func (f *File) segment(t elf.ProgType) *Segment {
	return find(f.Segments, func(s *Segment) bool { return s.Type == t })
}

// isCode reports whether the segment is loaded and executable.
func (s *Segment) isCode() bool { return s.Type == elf.PT_LOAD && s.Flags&elf.PF_X != 0 }

// inFile reports whether the segment loads virtual address addr from the file.
func (s *Segment) inFile(addr uint64) bool {
	return s.Type == elf.PT_LOAD && addr >= s.Vaddr && addr-s.Vaddr < s.Filesz
}

// LoadAddress returns the virtual address that module-relative addresses are
// relative to: p_vaddr of the first PT_LOAD, as in Breakpad; 0 for a relocatable
// object.
func (f *File) LoadAddress() uint64 {
	if s := f.segment(elf.PT_LOAD); s != nil && f.Type != elf.ET_REL {
		return s.Vaddr
	}
	return 0
}

// ExecRanges returns the virtual addresses that can hold code, sorted and without
// overlaps: the executable PT_LOAD segments, or, in a file without any, such as a
// relocatable object, the loaded sections with SHF_EXECINSTR.
func (f *File) ExecRanges() []Range {
	// The loader maps segments.
	var ranges []Range
	for i := range f.Segments {
		if s := &f.Segments[i]; s.isCode() {
			ranges = appendRange(ranges, s.Vaddr, s.Memsz)
		}
	}
	if len(ranges) > 0 {
		return mergeRanges(ranges)
	}

	// An object has no segments.
	for i := range f.Sections {
		if s := &f.Sections[i]; s.isCode() {
			ranges = appendRange(ranges, s.Addr, s.Size)
		}
	}
	return mergeRanges(ranges)
}

// appendRange adds size bytes from begin, up to the end of the address space.
func appendRange(ranges []Range, begin, size uint64) []Range {
	// A forged size must not wrap around the address space.
	end := begin + size
	if end < begin {
		end = math.MaxUint64
	}
	if end == begin {
		return ranges
	}
	return append(ranges, Range{begin, end})
}

// mergeRanges sorts ranges and joins those that touch.
func mergeRanges(ranges []Range) []Range {
	slices.SortFunc(ranges, func(a, b Range) int { return cmp.Compare(a.Lo, b.Lo) })
	merged := ranges[:0]
	for _, r := range ranges {
		// Ranges that overlap or touch become one.
		if n := len(merged); n > 0 && r.Lo <= merged[n-1].Hi {
			merged[n-1].Hi = max(merged[n-1].Hi, r.Hi)
			continue
		}
		merged = append(merged, r)
	}
	return merged
}

// BytesAt aliases n bytes of the file from virtual address addr, or returns nil if
// no PT_LOAD segment has all of them in the file. In a separate debug file and in a
// relocatable object the result is always nil.
func (f *File) BytesAt(addr, n uint64) []byte {
	rest := f.bytesFrom(addr)
	if n > uint64(len(rest)) {
		return nil
	}
	return rest[:n:n]
}

// bytesFrom aliases the bytes from a virtual address to the end of its segment.
func (f *File) bytesFrom(addr uint64) []byte {
	if !f.holdsLoaded {
		return nil
	}

	// Segments can overlap in a damaged file: the first one with bytes counts.
	for i := range f.Segments {
		s := &f.Segments[i]
		if !s.inFile(addr) {
			continue
		}
		if data, ok := f.segmentData(s); ok {
			return data[min(addr-s.Vaddr, uint64(len(data))):]
		}
	}
	return nil
}

// segmentData aliases the bytes of a segment in the file. A truncated file has
// fewer bytes than p_filesz.
func (f *File) segmentData(s *Segment) (data []byte, ok bool) {
	// Offset and p_filesz are of the header, and need not be inside the file.
	size := uint64(len(f.data))
	if s.Offset >= size {
		return nil, false
	}
	n := min(s.Filesz, size-s.Offset)
	return f.data[s.Offset:][:n:n], true
}

// findLoaded computes HoldsLoaded. A debug file has the bytes of its notes; its
// other loaded sections are SHT_NOBITS.
func (f *File) findLoaded() bool {
	if len(f.Sections) == 0 {
		return slices.ContainsFunc(f.Segments, func(s Segment) bool {
			return s.Type == elf.PT_LOAD && s.Filesz > 0
		})
	}
	return find(f.Sections, func(s *Section) bool {
		return s.Flags&elf.SHF_ALLOC != 0 && s.Present() && s.Type != elf.SHT_NOTE && s.Size > 0
	}) != nil
}
