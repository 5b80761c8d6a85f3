package corefile

import (
	"cmp"
	"debug/elf"
	"slices"
	"sort"

	"symkit/elfx"
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
}

// segment is one PT_LOAD of the core.
type segment struct {
	begin, end uint64
	data       []byte // of the beginning; the rest was not dumped
	flags      elf.ProgFlag
}

// newMemory indexes the PT_LOAD segments, and warns if the core file is truncated.
func newMemory(f *elfx.File, c *Core) *memory {
	m := &memory{core: c}
	var lost, first uint64
	for _, s := range f.Segments {
		if s.Type != elf.PT_LOAD || s.Memsz == 0 && s.Filesz == 0 {
			continue
		}
		seg := segment{s.Vaddr, s.Vaddr + max(s.Memsz, s.Filesz), c.bytes(s.Offset, s.Filesz), s.Flags}
		if seg.end > seg.begin {
			m.segs = append(m.segs, seg)
		}

		// Count what a truncated file lacks.
		if n := uint64(len(seg.data)); n < s.Filesz {
			if lost == 0 {
				first = s.Vaddr + n
			}
			lost += s.Filesz - n
		}
	}
	if lost > 0 {
		c.warn("the core file is cut short: %d bytes of memory are missing, the first at %#x", lost, first)
	}

	// Of segments that overlap, the one that begins first is cut.
	slices.SortStableFunc(m.segs, func(a, b segment) int { return cmp.Compare(a.begin, b.begin) })
	m.segs = slices.CompactFunc(m.segs, func(a, b segment) bool { return a.begin == b.begin })
	for i := 1; i < len(m.segs); i++ {
		prev := &m.segs[i-1]
		if prev.end > m.segs[i].begin {
			prev.end = m.segs[i].begin
			prev.data = prev.data[:min(uint64(len(prev.data)), prev.end-prev.begin)]
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

// dumped returns the dumped bytes of one segment from addr on, or nil if there are none.
func (m *memory) dumped(addr uint64) []byte {
	s := m.at(addr)
	if s == nil || addr-s.begin >= uint64(len(s.data)) {
		return nil
	}
	return s.data[addr-s.begin:]
}

// Bytes implements walk.Memory. Bytes that a writable mapping lacks are not taken from the
// file, because the process may have changed them. gdb's gcore leaves read-only mappings of
// files out of the core altogether.
func (m *memory) Bytes(addr, n uint64) []byte {
	s := m.at(addr)
	if s != nil {
		if off := addr - s.begin; off < uint64(len(s.data)) && n <= uint64(len(s.data))-off {
			return s.data[off:][:n:n]
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
