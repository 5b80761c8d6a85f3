package corefile

import (
	"cmp"
	"debug/elf"
	"fmt"
	"slices"
	"sort"
	"strings"

	"symkit/cfi"
	"symkit/elfx"
)

// Extract is the part of a process that another program needs to walk its stacks. If Open opened
// the core file, Memory has only the stacks, the vdso and code.
type Extract struct {
	// Memory are ranges of known memory, by address and without overlaps: stacks, code that no
	// file has, headers and dynamic sections of modules, the memory that registers and stacks
	// point to.
	Memory []elfx.Range
	// Stacks has the stack of each thread, from below its stack pointer on: part of one of the
	// ranges. It is empty if the memory is not known.
	Stacks []elfx.Range
	// Maps is the text of /proc/PID/maps, as far as the core file has them; AuxV is the
	// auxiliary vector.
	Maps, AuxV []byte
}

// Extract returns the kept parts of the process, and as much of the ranges code as the core
// file or the files of the modules have.
func (c *Core) Extract(code []elfx.Range) *Extract {
	x := &Extract{AuxV: c.auxVector, Maps: c.maps()}
	arch, joins := cfi.ArchByName(c.layout.cpu), 1<<20 // far more than real stacks need
	for i := range c.Process.Threads {
		sp, _ := c.Process.Threads[i].Regs.Get(arch.SP)
		x.Stacks = append(x.Stacks, c.stack(sp, &joins))
	}

	// Pages and stacks together, without overlaps.
	all := slices.Clone(x.Stacks)
	if s := c.mem.at(c.aux[atSysinfoEHDR]); s != nil && s.size <= vdsoSize {
		all = append(all, c.known(s.begin, s.begin+s.size))
	}
	for _, page := range c.mem.kept.numbers(likely) {
		lo := page << pageBits
		for s := c.mem.next(lo); s != nil && s.begin < lo+pageSize; s = c.mem.next(s.end) {
			all = append(all, elfx.Range{Lo: max(lo, s.begin), Hi: min(lo+pageSize, s.begin+s.size)})
		}
	}
	for _, r := range code {
		// Only a part may be known: a segment can end.
		for lo := r.Lo; lo < r.Hi; {
			n := min(16-lo%16, r.Hi-lo)
			if c.Process.Memory.Bytes(lo, n) != nil {
				all = append(all, elfx.Range{Lo: lo, Hi: lo + n})
			}
			lo += n
		}
	}
	all = slices.DeleteFunc(all, func(r elfx.Range) bool { return r.Lo >= r.Hi })
	slices.SortFunc(all, func(a, b elfx.Range) int { return cmp.Compare(a.Lo, b.Lo) })
	for _, r := range all {
		n := len(x.Memory)
		if n > 0 && r.Lo <= x.Memory[n-1].Hi {
			x.Memory[n-1].Hi = max(x.Memory[n-1].Hi, r.Hi)
			continue
		}
		x.Memory = append(x.Memory, r)
	}
	return x
}

// stack returns the known memory around a stack pointer: from the red zone to the end of the
// mapping, at most mostStack bytes. joins bounds the number of segments that are joined.
func (c *Core) stack(sp uint64, joins *int) (r elfx.Range) {
	// The stack pointer of a stack that overflowed is in the guard below the stack.
	s := c.mem.next(sp)
	for s != nil && s.begin+s.size <= sp {
		s = c.mem.next(s.end)
	}
	if s == nil || s.begin > sp && s.begin-sp > maxGuard {
		return r
	}
	sp = max(sp, s.begin)
	end := min(s.begin+s.size, sp+mostStack)

	// Writable memory that follows without a gap is the same stack: the kernel splits mappings.
	for n := s; end == n.end && end < sp+mostStack && *joins > 0; *joins-- {
		n = c.mem.next(end)
		if n == nil || n.begin != end || n.flags&elf.PF_W == 0 {
			break
		}
		end = min(n.begin+n.size, sp+mostStack)
	}
	r.Lo = max(s.begin, (sp-min(sp, belowSP))&^(pageSize-1))
	for r.Lo < sp && c.mem.kept.isDropped(r.Lo>>pageBits) {
		r.Lo = min(sp, (r.Lo+pageSize)&^(pageSize-1))
	}

	return c.known(r.Lo, end)
}

// known returns the range from an address to the first page that was dropped, or to end.
func (c *Core) known(lo, end uint64) elfx.Range {
	r := elfx.Range{Lo: lo, Hi: lo}
	for r.Hi < end && !c.mem.kept.isDropped(r.Hi>>pageBits) {
		r.Hi = min(end, (r.Hi+pageSize)&^(pageSize-1))
	}
	return r
}

// next returns the first segment that ends above addr, or nil.
func (m *memory) next(addr uint64) *segment {
	i := sort.Search(len(m.segs), func(i int) bool { return m.segs[i].end > addr })
	if i == len(m.segs) {
		return nil
	}
	return &m.segs[i]
}

// maps returns the mappings of the process in the form of /proc/PID/maps: those in the core
// file, with the names that NT_FILE has, and the mapped files that the core file leaves out.
func (c *Core) maps() []byte {
	type line struct {
		mappedFile
		flags elf.ProgFlag
	}
	var lines []line
	for i := range c.mem.segs {
		s := &c.mem.segs[i]
		l := line{mappedFile{begin: s.begin, end: s.end}, s.flags}
		if f := c.fileAt(s.begin); f != nil {
			l.name, l.offset = f.name, f.offset+s.begin-f.begin
		} else if m := c.Process.ModuleAt(s.begin); m != nil && m.Image != nil {
			l.name = m.Path
		}
		lines = append(lines, l)
	}

	// A part of a mapped file that is not kept has the protection of the file's segment.
	for _, f := range c.mapped {
		if c.mem.at(f.begin) != nil {
			continue
		}
		lines = append(lines, line{f, elf.PF_R})
		m := c.Process.ModuleAt(f.begin)
		if m == nil {
			continue
		}
		for i := range m.Segments {
			s := &m.Segments[i]
			if s.Type == elf.PT_LOAD && f.begin < m.Bias+s.Vaddr+s.Memsz && m.Bias+s.Vaddr < f.end {
				lines[len(lines)-1].flags |= s.Flags
			}
		}
	}
	slices.SortFunc(lines, func(a, b line) int { return cmp.Compare(a.begin, b.begin) })

	var out []byte
	for _, l := range lines {
		inode := 0
		if strings.HasPrefix(l.name, "/") {
			inode = 1
		}
		// A space follows the inode also where there is no name; rust-minidump's parser demands it.
		name := strings.ReplaceAll(l.name, "\n", `\012`)
		out = fmt.Appendf(out, "%08x-%08x %sp %08x 00:00 %d %s\n", l.begin, l.end, protection(l.flags), l.offset, inode, name)
	}
	return out
}

// protection returns flags as /proc/PID/maps has them.
func protection(flags elf.ProgFlag) string {
	out := []byte("---")
	for i, f := range []elf.ProgFlag{elf.PF_R, elf.PF_W, elf.PF_X} {
		if flags&f != 0 {
			out[i] = "rwx"[i]
		}
	}
	return string(out)
}

// fileAt returns the mapped file that addr is in, or nil.
func (c *Core) fileAt(addr uint64) *mappedFile {
	i := sort.Search(len(c.mapped), func(i int) bool { return c.mapped[i].begin > addr })
	if i == 0 || addr >= c.mapped[i-1].end {
		return nil
	}
	return &c.mapped[i-1]
}
