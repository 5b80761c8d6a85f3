package corefile

import (
	"debug/elf"

	"symkit/elfx"
	"symkit/internal/quantity"
	"symkit/internal/wire"
	"symkit/walk"
)

// Entries of a dynamic section (gABI, "Dynamic Section").
const (
	dtStrTab = 5
	dtSoname = 14
	dtDebug  = 21
)

// word reads an address-sized word of the process's memory.
func (c *Core) word(addr uint64) (uint64, bool) {
	size := c.file.AddrSize()
	b := c.mem.Bytes(addr, uint64(size))
	if b == nil {
		return 0, false
	}
	cur := wire.New("", b, c.file.BigEndian)
	return cur.Uint(size), true
}

// cstring reads a string of the process's memory, up to 4096 bytes.
func (c *Core) cstring(addr uint64) string {
	// The string is read byte by byte, because memory may end right after it.
	var out []byte
	for len(out) < 4096 {
		b := c.mem.Bytes(addr+uint64(len(out)), 1)
		if b == nil || b[0] == 0 {
			break
		}
		out = append(out, b[0])
	}
	return string(out)
}

// dynamic reads the dynamic section at addr. For each tag that keys has, it sets the value
// of the entry.
func (c *Core) dynamic(addr uint64, keys map[uint64]uint64) {
	const most = 1024
	size := uint64(c.file.AddrSize())
	for range most {
		key, ok1 := c.word(addr)
		v, ok2 := c.word(addr + size)
		if !ok1 || !ok2 || key == 0 {
			return
		}
		if _, want := keys[key]; want {
			keys[key] = v
		}
		addr += 2 * size
	}
}

// headers returns the headers of a module, from the core file or else from the disk.
// The result is nil if there are none.
func (c *Core) headers(m *walk.Module) *elfx.File {
	// A file begins at the bias if it was linked at 0, and otherwise at the base.
	for _, start := range []uint64{m.Bias, m.Base} {
		if h := c.headerAt(start &^ pageMask); h != nil {
			return h
		}
	}
	return c.mem.binary(m)
}

// soname returns a module's DT_SONAME, or the empty string if there is none.
func (c *Core) soname(m *walk.Module) string {
	h := c.headers(m)
	if h == nil {
		return ""
	}

	// Both entries are needed: the offset of the name, and the table it is in.
	keys := map[uint64]uint64{dtStrTab: 0, dtSoname: 0}
	for _, s := range h.Segments {
		if s.Type == elf.PT_DYNAMIC {
			c.dynamic(m.Bias+s.Vaddr, keys)
		}
	}
	if keys[dtStrTab] == 0 || keys[dtSoname] == 0 {
		return ""
	}

	// The dynamic linkers of some machines leave the table's address as it is
	// in the file.
	at := keys[dtStrTab]
	if at < m.Base {
		at += m.Bias
	}
	return c.cstring(at + keys[dtSoname])
}

// fromLinkMap makes modules without NT_FILE: the program from the auxiliary
// vector, the libraries from the dynamic linker's list, r_debug (SVR4; glibc
// link.h).
func (c *Core) fromLinkMap(vdso *walk.Module) {
	main, h := c.program()
	if main == nil {
		c.warn("no NT_FILE note and no program headers: give the program with --exe")
		return
	}

	c.add(main)

	// The dynamic linker writes the address of its r_debug into the program's DT_DEBUG.
	keys := map[uint64]uint64{dtDebug: 0}
	for _, s := range h.Segments {
		if s.Type == elf.PT_DYNAMIC {
			c.dynamic(main.Bias+s.Vaddr, keys)
		}
	}
	if keys[dtDebug] == 0 {
		return // linked statically
	}
	c.linked(keys[dtDebug], main, vdso)
}

// program finds the program itself. Its headers are at AT_PHDR, or on disk.
func (c *Core) program() (*walk.Module, *elfx.File) {
	// AT_EXECFN is the whole path; NT_PRPSINFO cuts the name after 15 bytes.
	name := c.cstring(c.aux[atExecFn])
	if name == "" {
		name = c.Process.Name
	}
	if phdr := c.aux[atPHDR]; phdr != 0 {
		start := phdr &^ pageMask
		if h := c.headerAt(start); h != nil {
			if m, ok := c.module(h, start, name); ok {
				return m, h
			}
		}
	}

	// Without headers in memory, look for the program's file.
	if c.files == nil {
		return nil, nil
	}

	m := &walk.Module{Path: name}
	if c.files.Exe != "" {
		m.Path = c.files.Exe
	}

	f := c.files.Local(m)
	if f == nil {
		return nil, nil
	}
	return c.programFrom(m, f)
}

// programFrom makes the module of a program found on disk. AT_ENTRY minus the
// file's entry point is the address that the program is loaded at.
func (c *Core) programFrom(m *walk.Module, f *elfx.File) (*walk.Module, *elfx.File) {
	// A bias that is no multiple of the page size shows that the file is another one.
	bias := c.aux[atEntry] - f.Entry
	if c.aux[atEntry] == 0 || bias&pageMask != 0 {
		c.warn("%s: %s is another file: its entry point is elsewhere", m.Path, f.Path())
		return nil, nil
	}

	m.Bias = bias
	m.Base = bias + f.LoadAddress()
	for _, s := range f.Segments {
		if s.Type == elf.PT_LOAD {
			m.End = max(m.End, bias+s.Vaddr+s.Memsz)
		}
	}

	m.BuildID = f.BuildID()
	return m, f
}

// linked reads the list of loaded files, whose first entry is the program, from
// the r_debug structure at address debug.
func (c *Core) linked(debug uint64, main, vdso *walk.Module) {
	const most = 4096
	size := uint64(c.file.AddrSize())

	// r_map is the second word of r_debug. A link_map begins with l_addr, l_name, l_ld and
	// l_next.
	at, _ := c.word(debug + size)
	for range most {
		bias, ok := c.word(at)
		name, ok2 := c.word(at + size)
		next, ok3 := c.word(at + 3*size)
		if at == 0 || !ok || !ok2 || !ok3 {
			return
		}

		// The program and the vdso can be in the list, too, but are not added from it.
		if path := c.cstring(name); path != "" && bias != main.Bias && (vdso == nil || bias != vdso.Bias) {
			c.library(bias, path)
		}
		at = next
	}
	c.warn("more than %s loaded files: the rest is left out", quantity.Number(most))
}

// library adds a library of the list.
func (c *Core) library(bias uint64, path string) {
	if h := c.headerAt(bias); h != nil { // libraries are linked at 0
		if m, ok := c.module(h, bias, path); ok {
			c.add(m)
		}
		return
	}

	// The first page is missing in the core file: take the layout from the disk.
	m := &walk.Module{Path: path, Bias: bias, Base: bias}
	if c.files != nil {
		if f := c.files.Local(m); f != nil {
			if full, ok := c.module(f, bias, path); ok {
				m.Base, m.End, m.Bias, m.BuildID = full.Base, full.End, full.Bias, full.BuildID
				c.add(m)
				return
			}
		}
	}
	c.warn("%s: loaded at %#x, but neither the core file nor the disk has its headers", path, bias)
}
