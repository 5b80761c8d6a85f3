package lookup

import (
	"cmp"
	"debug/elf"
	"strings"

	"symkit/elfx"
)

// Mapping is where a process, or a kernel, had a part of a file in memory.
type Mapping struct {
	// Start and Limit are the first address, and the one after the last.
	Start, Limit uint64
	// Offset is the file offset of Start.
	Offset uint64
	// First is where the first byte of the file is in memory, 0 if that is not known or Offset is 0. Symbol files, which
	// have no segments, need it.
	First uint64
	// Whole states that the mapping is that of a whole segment with code. Offset is not known.
	Whole bool
	// Symbol is, of a kernel, the symbol whose address Start is: _text or _stext; "" if that is not known.
	Symbol string
}

// kernelSpace is where the addresses of kernels begin.
const kernelSpace = 1 << 63

// Address returns the virtual address, in f, of an address in memory. ok is false if that is not known: the address is
// outside of the mapping, or no segment with code was mapped there. A mapping of zeros, which tools make up, has virtual
// addresses. Without First, addresses in a symbol file are known if the mapping has all pages of the code.
func (m Mapping) Address(f *File, addr uint64) (virtual uint64, ok bool) {
	all := m.Limit == 0 || m.Limit == ^uint64(0)
	switch {
	case m.Start == 0 && m.Offset == 0 && all:
		return addr, true
	case addr < m.Start || addr >= m.Limit && m.Limit > m.Start:
		return 0, false
	}
	if f.image == nil {
		s, ok := f.source.(*symbolFile)
		if !ok {
			return 0, false
		}
		switch {
		case m.First > 0:
			return addr - m.First, addr >= m.First
		case m.Offset == 0 && !m.Whole && m.Start < kernelSpace:
			return addr - m.Start, true
		}
		lo, hi := s.index.Code()
		return m.whole(addr, lo, hi)
	}
	main := f.image.image.Main
	switch {
	case main.Type == elf.ET_REL:
		return m.object(main, addr)
	case m.Start >= kernelSpace || m.Symbol != "":
		return m.kernel(f, addr)
	}
	if !m.Whole {
		virtual, ok = f.Address(Offset, addr-m.Start+m.Offset)
		if ok {
			return virtual, true
		}
	}
	return m.segment(main, addr)
}

// kernel is Address for a kernel, which has moved as a whole. Its Offset says nothing.
func (m Mapping) kernel(f *File, addr uint64) (uint64, bool) {
	for _, name := range []string{cmp.Or(m.Symbol, "_stext"), "_text"} {
		for _, s := range f.Symbols(nil, name, -1) {
			if (s.Addr-m.Start)%smallestPage == 0 { // a kernel moves by whole pages
				return addr - m.Start + s.Addr, true
			}
		}
	}
	for _, r := range f.image.image.Main.ExecRanges() {
		return addr - m.Start + r.Lo, true
	}
	return 0, false
}

// object is Address for a kernel's module. The kernel puts its code sections one after the other (layout_sections in
// Linux), those that it drops after the start elsewhere.
func (m Mapping) object(f *elfx.File, addr uint64) (uint64, bool) {
	left := addr - m.Start
	const code = elf.SHF_ALLOC | elf.SHF_EXECINSTR
	for i, from := 0, uint64(0); i < len(f.Sections); i++ {
		s := &f.Sections[i]
		if s.Flags&code != code || strings.HasPrefix(s.Name, ".init") {
			continue
		}
		align := max(s.Align, 1)
		from = (from + align - 1) / align * align
		if left >= from && left-from < s.Size {
			return left - from + s.Addr, true
		}
		from += s.Size
	}
	return 0, false
}

// smallestPage is the size of pages on most systems; others have pages of four or sixteen times the size.
const smallestPage, largestPage = 4 << 10, 64 << 10

// segment is Address without an offset: the segment is the one that takes as many pages as the mapping. Debug files that
// are alone have no code, and strip does not keep the offsets of their segments.
func (m Mapping) segment(f *elfx.File, addr uint64) (uint64, bool) {
	for i := range f.Segments {
		s := &f.Segments[i]
		if s.Type != elf.PT_LOAD || s.Flags&elf.PF_X == 0 || s.Filesz > 0 && !m.Whole {
			continue
		}
		virtual, ok := m.whole(addr, s.Vaddr, s.Vaddr+s.Memsz)
		if ok {
			return virtual, true
		}
	}
	return 0, false
}

// whole is Address if the mapping has all pages with [lo, hi).
func (m Mapping) whole(addr, lo, hi uint64) (uint64, bool) {
	for page := uint64(smallestPage); page <= largestPage; page *= 4 {
		from := lo &^ (page - 1)
		if hi > lo && (hi-from+page-1)&^(page-1) == m.Limit-m.Start {
			return addr - m.Start + from, true
		}
	}
	return 0, false
}
