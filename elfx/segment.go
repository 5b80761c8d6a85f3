package elfx

import (
	"cmp"
	"debug/elf"
	"math"
	"slices"
)

// ptGNUSFrame is the segment of .sframe (PT_GNU_SFRAME).
const ptGNUSFrame = elf.ProgType(0x6474e554)

// Range is a half-open range of virtual addresses, [Lo, Hi).
type Range struct{ Lo, Hi uint64 }

// segmentOf returns the first program header of a type, or nil.
func segmentOf(f *File, t elf.ProgType) *Segment {
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
	if s := segmentOf(f, elf.PT_LOAD); s != nil && f.Type != elf.ET_REL {
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
		if data, ok := segmentData(f, s); ok {
			return data[min(addr-s.Vaddr, uint64(len(data))):]
		}
	}
	return nil
}

// segmentData aliases the bytes of a segment in the file. A truncated file has
// fewer bytes than p_filesz.
func segmentData(f *File, s *Segment) (data []byte, ok bool) {
	// Offset and p_filesz are of the header, and need not be inside the file.
	size := uint64(len(f.data))
	if s.Offset >= size {
		return nil, false
	}
	n := min(s.Filesz, size-s.Offset)
	return f.data[s.Offset:][:n:n], true
}

// findLoaded returns HoldsLoaded. A debug file has the bytes of its notes; its
// other loaded sections are SHT_NOBITS.
func findLoaded(f *File) bool {
	if len(f.Sections) == 0 {
		return slices.ContainsFunc(f.Segments, func(s Segment) bool {
			return s.Type == elf.PT_LOAD && s.Filesz > 0
		})
	}
	return find(f.Sections, func(s *Section) bool {
		return s.Flags&elf.SHF_ALLOC != 0 && s.Present() && s.Type != elf.SHT_NOTE && s.Size > 0
	}) != nil
}
