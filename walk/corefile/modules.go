package corefile

import (
	"cmp"
	"debug/elf"
	"path"
	"slices"

	"symkit/elfx"
	"symkit/elfx/identity"
	"symkit/internal/quantity"
	"symkit/internal/wire"
	"symkit/walk"
	"symkit/walk/symbols/sources"
)

// deletedMark is the end that the kernel adds to the path of a deleted file.
const deletedMark = " (deleted)"

// headerAt reads the headers at an address from the core's memory: the kernel
// dumps the first page of every ELF file. Many files may begin there. The result has
// headers alone, and is nil if there are none.
func (c *Core) headerAt(addr uint64) *elfx.File {
	h, known := c.headersAt[addr]
	if !known {
		h = c.readHeader(c.mem.dumped(addr))
		c.headersAt[addr] = h
		return h
	}

	// Headers from the cache count again, because any number of modules can share them.
	if h != nil {
		c.tables += len(h.Segments)
	}
	if c.tables > maxTables {
		return nil
	}
	return h
}

// maxTables bounds the program and section headers read of all loaded files, which
// can share them. A file has some dozens.
const maxTables = 1 << 20

// readHeader parses the headers that data begins with. The result is nil if there are none.
func (c *Core) readHeader(data []byte) *elfx.File {
	if len(data) < 52 || string(data[:4]) != elf.ELFMAG {
		return nil
	}
	// Count the headers first: elfx.NewFile reads all of them.
	counts := wire.New("ELF header", data, c.file.BigEndian)
	counts.Seek(44) // e_phnum
	if c.file.Class == elf.ELFCLASS64 {
		counts.Seek(56)
	}

	phnum := int(counts.U16())
	counts.U16() // e_shentsize
	c.tables += phnum + int(counts.U16())
	if c.tables > maxTables {
		return nil
	}

	f, err := c.file.Options().NewFile("", data)
	if err != nil || f.Machine != c.file.Machine || len(f.Segments) == 0 {
		return nil
	}
	return f
}

const pageMask = 4095

// module makes a module of the file whose first byte is loaded at start. It returns false if
// the file has nothing to load. The build id can be anywhere in the memory of the process.
func (c *Core) module(h *elfx.File, start uint64, name string) (*walk.Module, bool) {
	m, ok := placed(h, start, name)
	if ok {
		m.BuildID = c.buildID(h, m.Bias)
	}
	return m, ok
}

// placed makes a module without a build id of the headers alone, so that it can be called
// before the memory of the process is known.
func placed(h *elfx.File, start uint64, name string) (*walk.Module, bool) {
	m := &walk.Module{Path: name, Segments: h.Segments}
	var first *elfx.Segment
	end := uint64(0)
	for i := range h.Segments {
		s := &h.Segments[i]
		if s.Type != elf.PT_LOAD {
			continue
		}
		if first == nil {
			first = s
		}
		end = max(end, s.Vaddr+s.Memsz)
	}
	if first == nil || first.Offset > pageMask {
		return nil, false
	}

	// The file begins at start, so the first segment is first.Offset after it.
	m.Bias = start + first.Offset - first.Vaddr
	m.Base, m.End = m.Bias+first.Vaddr, m.Bias+end
	if m.End <= m.Base {
		return nil, false
	}
	return m, true
}

// buildID returns the build id. It is in the page with the headers, or else in the memory
// that PT_NOTE names.
func (c *Core) buildID(h *elfx.File, bias uint64) []byte {
	if id := h.BuildID(); id != nil {
		return id
	}

	// The notes may lie after the page with the headers.
	for _, s := range h.Segments {
		const most = 1 << 16
		if s.Type != elf.PT_NOTE || s.Filesz > most {
			continue
		}
		cur := wire.New("notes", c.mem.Bytes(bias+s.Vaddr, s.Filesz), c.file.BigEndian)
		for cur.Len() >= 12 {
			name, typ, desc := nextNote(&cur)
			// The build id is the note of type NT_GNU_BUILD_ID.
			if cur.Err() == nil && name == "GNU" && typ == 3 && len(desc.data) > 0 {
				return slices.Clone(desc.data)
			}
		}
	}
	return nil
}

// maxModules bounds the modules, which are compared with one another.
const maxModules = 1 << 15

// add adds a module that holds code and overlaps none that is known.
func (c *Core) add(m *walk.Module) {
	if len(c.Process.Modules) == maxModules {
		c.warn("more than %s modules: the rest is left out", quantity.Number(maxModules))
		return
	}

	// The first module of a range of addresses counts.
	for _, have := range c.Process.Modules {
		if m.Base < have.End && have.Base < m.End {
			return
		}
	}
	if !c.hasCode(m) {
		return
	}
	if m.BuildID != nil {
		m.DebugID = identity.ModuleID(m.BuildID, c.file.BigEndian)
	}
	c.Process.Modules = append(c.Process.Modules, m)
}

// hasCode reports whether any part of a module is mapped for execution: a file that is
// mapped only for reading, as debuggers do, is no module.
func (c *Core) hasCode(m *walk.Module) bool {
	// The core has the code, or else gdb's gcore left it out.
	for _, s := range c.mem.segs {
		if s.flags&elf.PF_X != 0 && s.begin < m.End && m.Base < s.end {
			return true
		}
	}
	return slices.ContainsFunc(m.Segments, func(s elfx.Segment) bool {
		return s.Type == elf.PT_LOAD && s.Flags&elf.PF_X != 0 && c.leftOut(m.Bias+s.Vaddr, s, m.Offset)
	})
}

// leftOut reports whether a part of the segment of a file, loaded at addr, is in no
// segment of the core although it was mapped: gdb's gcore leaves out memory that is equal
// to the file's. The file begins at an offset of the file that the process mapped.
func (c *Core) leftOut(addr uint64, s elfx.Segment, offset uint64) bool {
	// Each segment of the core that covers a part of the range leads to the next address.
	for at := addr; at-addr < s.Filesz; {
		in := c.mem.at(at)
		if in == nil {
			return c.isMapped(at, offset+s.Offset+at-addr)
		}
		at = in.end
	}
	return false
}

// isMapped reports whether NT_FILE has the file offset at addr.
func (c *Core) isMapped(addr, offset uint64) bool {
	e := c.fileAt(addr)
	return e != nil && addr-e.begin+e.offset == offset
}

// fromMapped makes modules of NT_FILE: every file whose beginning is mapped and
// is ELF. If the core lacks the page of the beginning, the file on disk gives the
// layout.
func (c *Core) fromMapped(vdso *walk.Module) {
	// A file is loaded where its first byte is mapped. The vdso is added on its own.
	for i, e := range c.mapped {
		if e.offset != 0 || vdso != nil && e.begin == vdso.Base {
			continue
		}
		if sources.IsArchiveName(e.name) {
			continue
		}
		h := c.headerAt(e.begin)
		if h != nil {
			if m, ok := c.module(h, e.begin, e.name); ok {
				c.add(m)
			}
			continue
		}
		c.withoutHeader(i)
	}
}

// withoutHeader makes a module of entry i of NT_FILE if the core lacks the module's
// headers. The extent of the module is that of the entries with the same name.
func (c *Core) withoutHeader(i int) {
	e := c.mapped[i]
	m := &walk.Module{Path: e.name, Base: e.begin, Bias: e.begin, End: e.end}

	// The entries up to the next beginning of the file belong to the same module.
	for _, next := range c.mapped[i+1:] {
		if next.name != e.name || next.offset == 0 {
			break
		}
		m.End = max(m.End, next.end)
	}
	// The file on disk, if it is found, gives the exact extent.
	if c.files != nil {
		if f := c.files.Local(m); f != nil {
			if full, ok := c.module(f, e.begin, e.name); ok {
				m.Base, m.Bias, m.End, m.BuildID, m.Segments = full.Base, full.Bias, full.End, full.BuildID, full.Segments
			}
		}
	}
	if !c.hasCode(m) {
		return
	}

	c.warn("%s: the core file lacks its headers (see coredump_filter in core(5)): its build id is unknown", e.name)
	c.add(m)
}

// vdso returns the module that the kernel puts into every process, or nil if there is none.
func (c *Core) vdso() *walk.Module {
	addr := c.aux[atSysinfoEHDR]
	h := c.headerAt(addr)
	if addr == 0 || h == nil {
		return nil
	}
	m, ok := c.module(h, addr, "[vdso]")
	if !ok {
		return nil
	}

	// No file has the vdso, so its image is the memory of the process.
	m.Image = c.mem.dumped(addr)
	return m
}

// findMain finds the program among the modules: the one with the entry point.
func (c *Core) findMain() {
	p := c.Process
	p.Entry = c.aux[atEntry]
	if m := p.ModuleAt(p.Entry); m != nil {
		p.Main = m
		return
	}
	// No module has the entry point: take the mapped file at the lowest address.
	if len(p.Modules) > 0 && len(c.mapped) > 0 {
		p.Main = p.ModuleAt(c.mapped[0].begin)
	}
}

// name gives a module the name that symbol files know it by: DT_SONAME, else
// the file's.
func (c *Core) name(m *walk.Module) {
	m.Name = cmp.Or(c.soname(m), path.Base(m.Path))
	m.DebugFile = m.Name
}
