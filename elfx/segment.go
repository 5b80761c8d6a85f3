package elfx

import (
	"cmp"
	"debug/elf"
	"errors"
	"math"
	"slices"

	"symkit/internal/wire"
)

// ErrNoFirst: the program header count is in section header 0, and there is
// none (gABI, "ELF Header": PN_XNUM).
var ErrNoFirst = errors.New("program header count kept in a missing section header")

// pnXNum in e_phnum sends the reader to sh_info of section header 0.
const pnXNum = 0xffff

// ptGNUSFrame is the segment of .sframe (PT_GNU_SFRAME).
const ptGNUSFrame = elf.ProgType(0x6474e554)

// Segment is one program header (gABI, "Program Header"). Offset and Filesz
// count bytes of the file; Vaddr and Memsz are in the address space the file
// was linked for.
type Segment struct {
	Type   elf.ProgType
	Flags  elf.ProgFlag
	Offset uint64
	Vaddr  uint64
	Filesz uint64
	Memsz  uint64
	Align  uint64
}

// Range is the addresses [Lo, Hi).
type Range struct{ Lo, Hi uint64 }

// readSegments reads the program header table. The section is header 0, nil
// when there is none.
func (f *File) readSegments(t tables, first *Section) error {
	if t.phnum == pnXNum {
		if first == nil {
			return f.headerField(fieldPhnum, ErrNoFirst)
		}
		t.phnum = uint64(first.Info)
	}
	if t.phnum == 0 || t.phoff == 0 {
		return nil
	}
	size := f.segmentSize()
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

func (f *File) segmentSize() uint64 {
	if f.Class == elf.ELFCLASS64 {
		return 56
	}
	return 32
}

// readSegment reads one header. The classes differ in where p_flags is.
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

// segment finds the first program header of a type.
func (f *File) segment(t elf.ProgType) *Segment {
	for i := range f.Segments {
		if f.Segments[i].Type == t {
			return &f.Segments[i]
		}
	}
	return nil
}

// LoadAddress is the address that module-relative addresses count from: p_vaddr
// of the first PT_LOAD, as Breakpad takes it; 0 for a relocatable object.
func (f *File) LoadAddress() uint64 {
	if s := f.segment(elf.PT_LOAD); s != nil && f.Type != elf.ET_REL {
		return s.Vaddr
	}
	return 0
}

// ExecRanges lists where code can be, sorted and without overlaps: the
// executable PT_LOAD segments, or, in a file without any, the sections flagged
// SHF_EXECINSTR, as in a relocatable object.
func (f *File) ExecRanges() []Range {
	var ranges []Range
	for i := range f.Segments {
		if s := &f.Segments[i]; s.Type == elf.PT_LOAD && s.Flags&elf.PF_X != 0 {
			ranges = appendRange(ranges, s.Vaddr, s.Memsz)
		}
	}
	if len(ranges) == 0 {
		for i := range f.Sections {
			if s := &f.Sections[i]; s.Flags&(elf.SHF_EXECINSTR|elf.SHF_ALLOC) == elf.SHF_EXECINSTR|elf.SHF_ALLOC {
				ranges = appendRange(ranges, s.Addr, s.Size)
			}
		}
	}
	return mergeRanges(ranges)
}

// appendRange adds the size bytes from begin, cut where the address space ends.
func appendRange(ranges []Range, begin, size uint64) []Range {
	end := begin + size
	if end < begin {
		end = math.MaxUint64
	}
	if end == begin {
		return ranges
	}
	return append(ranges, Range{begin, end})
}

func mergeRanges(ranges []Range) []Range {
	slices.SortFunc(ranges, func(a, b Range) int { return cmp.Compare(a.Lo, b.Lo) })
	merged := ranges[:0]
	for _, r := range ranges {
		if n := len(merged); n > 0 && r.Lo <= merged[n-1].Hi {
			merged[n-1].Hi = max(merged[n-1].Hi, r.Hi)
			continue
		}
		merged = append(merged, r)
	}
	return merged
}

// BytesAt aliases the n bytes that are loaded from the file at virtual address
// addr, or returns nil when no PT_LOAD segment has them all in the file. It
// finds nothing in a separate debug file and in a relocatable object.
func (f *File) BytesAt(addr, n uint64) []byte {
	rest := f.bytesFrom(addr)
	if n > uint64(len(rest)) {
		return nil
	}
	return rest[:n:n]
}

// bytesFrom aliases the file's bytes from a virtual address to the end of its
// segment.
func (f *File) bytesFrom(addr uint64) []byte {
	if !f.holdsLoaded {
		return nil
	}
	for i := range f.Segments {
		s := &f.Segments[i]
		if s.Type != elf.PT_LOAD || addr < s.Vaddr || addr-s.Vaddr >= s.Filesz {
			continue
		}
		if data, ok := f.segmentData(s); ok {
			return data[min(addr-s.Vaddr, uint64(len(data))):]
		}
	}
	return nil
}

// segmentData aliases the part of a segment that the file holds; a truncated
// file holds less than p_filesz.
func (f *File) segmentData(s *Segment) (data []byte, ok bool) {
	size := uint64(len(f.data))
	if s.Offset >= size {
		return nil, false
	}
	n := min(s.Filesz, size-s.Offset)
	return f.data[s.Offset:][:n:n], true
}

// findLoaded tells whether the file has bytes of what is loaded. A debug file's
// notes are real, everything else that it would load is SHT_NOBITS.
func (f *File) findLoaded() bool {
	if len(f.Sections) == 0 {
		return slices.ContainsFunc(f.Segments, func(s Segment) bool {
			return s.Type == elf.PT_LOAD && s.Filesz > 0
		})
	}
	for i := range f.Sections {
		s := &f.Sections[i]
		if s.Flags&elf.SHF_ALLOC != 0 && s.Present() && s.Type != elf.SHT_NOTE && s.Size > 0 {
			return true
		}
	}
	return false
}
