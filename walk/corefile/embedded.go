package corefile

import (
	"debug/elf"
	"slices"

	"symkit/elfx"
	"symkit/internal/wire"
	"symkit/walk"
	"symkit/walk/symbols/sources"
)

// Android's linker maps a library that an APK stores uncompressed from inside the APK: NT_FILE then has the APK at an
// offset. The kernel dumps the first page of a file that is mapped from its beginning, not the headers of such a library.
// The library in an APK at hand gives them, if the process mapped all of its segments where its headers say.

// embedding finds the files that the process of a core mapped from inside other files.
type embedding struct{ *Core }

// addModules makes modules of the files.
func (c embedding) addModules() {
	for i := range c.mapped {
		e := &c.mapped[i]
		inside := sources.IsArchiveName(e.name)
		if e.offset == 0 && !inside || c.inModule(e.begin) {
			continue
		}
		m := c.module(e)
		if m == nil && inside {
			m = c.unknown(i)
		}
		if m != nil {
			c.add(m)
		}
	}
}

// inModule reports whether an address is in one of the modules so far.
func (c embedding) inModule(addr uint64) bool {
	return slices.ContainsFunc(c.Process.Modules, func(m *walk.Module) bool { return m.Base <= addr && addr < m.End })
}

// module makes a module of the file that begins where e was mapped, inside another file. It returns nil if no file
// begins there, or if that is unknown.
func (c embedding) module(e *mappedFile) *walk.Module {
	h := c.headerAt(e.begin)
	if h != nil {
		if !c.isLaidOut(h, e) {
			return nil
		}
		m, ok := c.Core.module(h, e.begin, e.name)
		if !ok {
			return nil
		}
		m.Offset = e.offset
		if soname := c.soname(m); soname != "" && sources.IsArchiveName(e.name) {
			m.Path += "!" + soname
		}
		return m
	}
	if c.files == nil || !sources.IsArchiveName(e.name) {
		return nil
	}

	// Without a build id in the core, the layout of the segments and the dynamic section show whether the file is the one
	// that was mapped.
	file, member := c.files.Stored(e.name, e.offset, func(f *elfx.File) bool {
		return f.Machine == c.file.Machine && f.BigEndian == c.file.BigEndian && c.isLaidOut(f, e) && c.hasDynamic(f, e)
	})
	if file == nil {
		return nil
	}
	defer file.Close()
	m, ok := placed(file, e.begin, e.name+elfx.Separator+member)
	if !ok {
		return nil
	}
	m.BuildID, m.Offset = file.BuildID(), e.offset
	return m
}

// isLaidOut reports whether the process mapped all segments of a file, whose headers h are, where its first byte is at e,
// from inside the same file as e.
func (c embedding) isLaidOut(h *elfx.File, e *mappedFile) bool {
	m, ok := placed(h, e.begin, e.name)
	if !ok {
		return false
	}
	for i := range h.Segments {
		s := &h.Segments[i]
		if s.Type != elf.PT_LOAD || s.Filesz == 0 {
			continue
		}
		at := c.fileAt(m.Bias + s.Vaddr)
		if at == nil || at.name != e.name || m.Bias+s.Vaddr-at.begin+at.offset != e.offset+s.Offset {
			return false
		}
	}
	return true
}

// hasDynamic reports whether the process has the dynamic section of a file whose first byte is at e.
func (c embedding) hasDynamic(f *elfx.File, e *mappedFile) bool {
	m, ok := placed(f, e.begin, e.name)
	if !ok {
		return false
	}
	size := c.file.AddrSize()
	for i := range f.Segments {
		s := &f.Segments[i]
		if s.Type != elf.PT_DYNAMIC {
			continue
		}
		want := wire.New("", f.BytesAt(s.Vaddr, s.Filesz), f.BigEndian)
		have := wire.New("", c.mem.Bytes(m.Bias+s.Vaddr, s.Filesz), f.BigEndian)
		for want.Len() >= 2*size && have.Len() >= 2*size {
			tag, loadedTag := want.Uint(size), have.Uint(size)
			value, loaded := want.Uint(size), have.Uint(size)

			// Dynamic linkers change DT_DEBUG, and glibc's makes addresses of values that are places in the file.
			moved := value + m.Bias
			if size == 4 {
				moved = uint64(uint32(moved))
			}
			if tag != loadedTag || loaded != value && loaded != moved && tag != dtDebug {
				return false
			}
			if tag == 0 {
				return true
			}
		}
	}
	return false // the file has none, or the core lacks the memory
}

// maxGap bounds the distance of the segments of a file, which is less than the largest page.
const maxGap = 1 << 16

// unknown makes a module of the mappings of an archive from entry i on, which are those of one library that is not
// at hand: the addresses of a library rise with its offsets, and end with what the process could write.
func (c embedding) unknown(i int) *walk.Module {
	first := c.mapped[i]
	m := &walk.Module{Path: first.name, Base: first.begin, Bias: first.begin, End: first.end, Offset: first.offset}
	last, wrote := first, c.isWritable(first.begin)
	for _, next := range c.mapped[i+1:] {
		writes := c.isWritable(next.begin)
		if next.name != first.name || next.begin-last.end > maxGap || next.offset < last.offset || wrote && !writes {
			break
		}
		m.End, last, wrote = next.end, next, writes
	}
	if !c.hasCode(m) {
		return nil
	}
	c.warn("%s: a library at offset %#x is not at hand: give the directory of the APK with --sysroot", first.name, first.offset)
	return m
}

// isWritable reports whether the process could write at an address.
func (c embedding) isWritable(addr uint64) bool {
	s := c.mem.at(addr)
	return s != nil && s.flags&elf.PF_W != 0
}
