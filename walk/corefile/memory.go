package corefile

import (
	"cmp"
	"debug/elf"
	"slices"
	"sort"

	"symkit/elfx"
	"symkit/internal/quantity"
	"symkit/walk"
)

// memory is the memory of the process: the segments of the core file, completed
// with read-only segments from the files of the modules.
type memory struct {
	core *Core
	segs []segment // by address, without overlaps
	// fetch allows files to be fetched from servers. It is false while modules are
	// found, because most modules are in no stack.
	fetch bool
	// kept has the contents of the segments of a stream; nil for a file.
	kept *kept
}

// segment is one PT_LOAD of the core.
type segment struct {
	begin, end uint64
	data       []byte // of the beginning, in a file; the rest was not dumped
	size       uint64 // bytes of the beginning that were dumped
	flags      elf.ProgFlag
}

// newMemory indexes the PT_LOAD segments, and warns if the core file is truncated. For a core
// file that came as a stream, kept has the contents, and sizes maps the addresses of segments to
// the number of bytes that were read.
func newMemory(f *elfx.File, c *Core, kept *kept, sizes map[uint64]uint64) *memory {
	m := &memory{core: c, kept: kept}
	var lost, first uint64
	for _, s := range f.Segments {
		if s.Type != elf.PT_LOAD || s.Memsz == 0 && s.Filesz == 0 {
			continue
		}
		seg := segment{begin: s.Vaddr, end: s.Vaddr + max(s.Memsz, s.Filesz), flags: s.Flags}
		if kept != nil {
			seg.size = min(s.Filesz, sizes[s.Vaddr])
		} else {
			seg.data = c.bytes(s.Offset, s.Filesz)
			seg.size = uint64(len(seg.data))
		}
		if seg.end > seg.begin {
			m.segs = append(m.segs, seg)
		}

		// Count the bytes that a truncated file lacks.
		if n := seg.size; n < s.Filesz {
			if lost == 0 {
				first = s.Vaddr + n
			}
			lost += s.Filesz - n
		}
	}
	if lost > 0 {
		c.warn("the core file is cut short: %s of memory are missing, the first at %#x", quantity.Bytes(lost), first)
	}

	// Of segments that overlap, the one that begins first is cut.
	slices.SortStableFunc(m.segs, func(a, b segment) int { return cmp.Compare(a.begin, b.begin) })
	m.segs = slices.CompactFunc(m.segs, func(a, b segment) bool { return a.begin == b.begin })
	for i := 1; i < len(m.segs); i++ {
		prev := &m.segs[i-1]
		if prev.end > m.segs[i].begin {
			prev.end = m.segs[i].begin
			prev.size = min(prev.size, prev.end-prev.begin)
			prev.data = prev.data[:min(uint64(len(prev.data)), prev.size)]
		}
	}
	return m
}

// at returns the segment that addr is in, or nil.
func (m *memory) at(addr uint64) *segment {
	i := sort.Search(len(m.segs), func(i int) bool { return m.segs[i].begin > addr })
	if i == 0 || addr >= m.segs[i-1].end {
		return nil
	}
	return &m.segs[i-1]
}

// maxImage bounds the bytes that dumped returns of a stream: more than the headers of a file, or
// the vdso.
const maxImage = 1 << 20

// dumped returns the dumped bytes of one segment from addr on, or nil if there are none.
func (m *memory) dumped(addr uint64) []byte {
	s := m.at(addr)
	if s == nil || addr-s.begin >= s.size {
		return nil
	}
	if m.kept != nil {
		return m.kept.from(addr, min(s.size-(addr-s.begin), maxImage))
	}
	return s.data[addr-s.begin:]
}

// Bytes implements walk.Memory. Bytes that a writable mapping lacks are not taken from the
// file, because the process may have changed them. gdb's gcore leaves read-only mappings of
// files out of the core altogether.
func (m *memory) Bytes(addr, n uint64) []byte {
	s := m.at(addr)
	if s != nil {
		off := addr - s.begin
		switch known := off < s.size && n <= s.size-off; {
		case known && m.kept == nil:
			return s.data[off:][:n:n]
		case known:
			b := m.kept.bytes(addr, n)
			if b != nil {
				return b
			}
		}
		if s.flags&elf.PF_W != 0 || n > s.end-addr {
			return nil
		}
	}

	// Outside of all segments of the core, only read-only segments are taken from the
	// module's file.
	mod := m.core.Process.ModuleAt(addr)
	if mod == nil || s == nil && !readOnly(mod, addr) {
		return nil
	}
	if f := m.binary(mod); f != nil {
		return f.BytesAt(addr-mod.Bias, n)
	}
	return nil
}

// readOnly reports whether addr is in a segment of mod that cannot be written.
func readOnly(mod *walk.Module, addr uint64) bool {
	for i := range mod.Segments {
		if s := &mod.Segments[i]; s.Type == elf.PT_LOAD && addr-(mod.Bias+s.Vaddr) < s.Memsz {
			return s.Flags&elf.PF_W == 0
		}
	}
	return false
}

// binary returns the file of a module, or nil.
func (m *memory) binary(mod *walk.Module) *elfx.File {
	if m.core.files == nil || mod.Image != nil {
		return nil
	}
	if !m.fetch {
		return m.core.files.Local(mod)
	}
	f, _ := m.core.files.Binary(mod)
	return f
}

// mappings returns the segments as the mappings of the process.
func (m *memory) mappings() (out []walk.Mapping) {
	for _, s := range m.segs {
		out = append(out, walk.Mapping{Begin: s.begin, End: s.end,
			Read: s.flags&elf.PF_R != 0, Write: s.flags&elf.PF_W != 0, Execute: s.flags&elf.PF_X != 0})
	}
	return out
}
