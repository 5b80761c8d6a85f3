package dump

import (
	"cmp"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"slices"

	"symkit/dump/dwarfx"
	"symkit/dump/gosym"
	"symkit/elfx"
	"symkit/emit"
	"symkit/internal/wire"
)

// languageGo is DW_LANG_Go.
const languageGo = 0x16

// pclntabs are the names of the section with Go's function table.
var pclntabs = []string{".gopclntab", ".data.rel.ro.gopclntab"}

// isGo tells a program linked by Go's linker.
func (d *dumper) isGo() bool {
	f := d.img.Main
	return slices.ContainsFunc(append(pclntabs, ".go.buildinfo"), func(name string) bool { return f.Section(name) != nil })
}

// goFuncs adds the functions, lines and inlined calls of Go's own tables, which
// stay in a stripped program, where debug information has none.
func (d *dumper) goFuncs() error {
	for _, u := range d.units {
		if u.Language == languageGo {
			return nil
		}
	}
	section, data, addr := d.findPclntab()
	if data == nil {
		return nil
	}
	table, err := gosym.Open(section, data, addr, d.goImage())
	if err != nil {
		d.loss(fmt.Errorf("%s: %w", d.img.Main.Path(), err))
		return nil
	}
	if d.opt.Inlines && !table.HasInlines() && table.Version() >= gosym.Go118 {
		d.loss(fmt.Errorf("%s: %w", d.img.Main.Path(), &wire.Error{Section: section, Err: gosym.ErrModule}))
	}
	x := goReader{d: d, table: table, names: map[uint32]uint32{}, files: map[uint32]uint32{}}
	for f, err := range table.Funcs() {
		if err != nil {
			d.loss(fmt.Errorf("%s: %w", d.img.Main.Path(), err))
			continue
		}
		x.function(f)
	}
	d.funcs = append(d.funcs, x.funcs...)
	d.m.Funcs = append(d.m.Funcs, x.out...)
	slices.SortFunc(d.funcs, func(a, b fn) int { return cmp.Compare(a.lo, b.lo) })
	slices.SortFunc(d.m.Funcs, func(a, b Func) int { return cmp.Compare(a.Addr, b.Addr) })
	return nil
}

// findPclntab finds Go's function table: by the section's name, or, in a file
// without section headers, by its magic number.
func (d *dumper) findPclntab() (section string, data []byte, addr uint64) {
	f := d.img.Main
	for _, name := range pclntabs {
		if s := f.Section(name); s != nil && s.Present() {
			data, err := s.Data()
			d.loss(err)
			if relocated := newGoMemory(f).read(s.Addr, s.Size); relocated != nil {
				data = relocated
			}
			return name, data, s.Addr
		}
	}
	if len(f.Sections) > 0 {
		return "", nil, 0
	}
	for i := range f.Segments {
		s := &f.Segments[i]
		if s.Type != elf.PT_LOAD || s.Flags&elf.PF_X != 0 {
			continue
		}
		data := f.BytesAt(s.Vaddr, s.Filesz)
		if at := gosym.Find(data, s.Vaddr); at >= 0 {
			return "Go function table", data[at:], s.Vaddr + uint64(at)
		}
	}
	return "", nil, 0
}

// goImage is the program as Go's tables refer to it.
func (d *dumper) goImage() gosym.Image {
	f := d.img.Main
	im := gosym.Image{Read: newGoMemory(f).read}
	for _, r := range d.code {
		im.Exec = append(im.Exec, gosym.Range{Start: r.Lo, End: r.Hi})
	}
	for _, name := range []string{".go.module", ".noptrdata", ".data", ".data.rel.ro"} {
		if s := f.Section(name); s != nil && s.Present() {
			im.Data = append(im.Data, gosym.Range{Start: s.Addr, End: s.Addr + s.Size})
		}
	}
	if len(f.Sections) == 0 {
		for i := range f.Segments {
			if s := &f.Segments[i]; s.Type == elf.PT_LOAD && s.Flags&elf.PF_W != 0 {
				im.Data = append(im.Data, gosym.Range{Start: s.Vaddr, End: s.Vaddr + s.Filesz})
			}
		}
	}
	if s := f.Section(".text"); s != nil {
		im.Text = s.Addr
	}
	return im
}

// goMemory reads a program's memory as it is when it runs: in a
// position-independent one the dynamic linker adds the load address to every
// pointer, here 0.
type goMemory struct {
	f      *elfx.File
	relocs []elfx.Reloc // relative ones with an addend, by offset
}

// relativeReloc is the number of a machine's relative relocation with an addend.
var relativeReloc = map[elf.Machine]uint32{
	elf.EM_X86_64: uint32(elf.R_X86_64_RELATIVE), elf.EM_AARCH64: uint32(elf.R_AARCH64_RELATIVE),
	elf.EM_RISCV: uint32(elf.R_RISCV_RELATIVE), elf.EM_S390: uint32(elf.R_390_RELATIVE),
	elf.EM_PPC64: uint32(elf.R_PPC64_RELATIVE), elf.EM_LOONGARCH: uint32(elf.R_LARCH_RELATIVE),
}

func newGoMemory(f *elfx.File) *goMemory {
	m := &goMemory{f: f}
	s := f.Section(".rela.dyn")
	if s == nil || !s.Present() {
		return m
	}
	relocs, err := s.Relocs()
	if err != nil {
		return m // pointers read as 0; the table is then found by .text
	}
	kind := relativeReloc[f.Machine]
	m.relocs = slices.DeleteFunc(relocs, func(r elfx.Reloc) bool { return r.Type != kind })
	slices.SortFunc(m.relocs, func(a, b elfx.Reloc) int { return cmp.Compare(a.Offset, b.Offset) })
	return m
}

func (m *goMemory) read(addr, n uint64) []byte {
	data := m.f.BytesAt(addr, n)
	i, _ := slices.BinarySearchFunc(m.relocs, addr, func(r elfx.Reloc, a uint64) int { return cmp.Compare(r.Offset, a) })
	if data == nil || i == len(m.relocs) || m.relocs[i].Offset >= addr+n {
		return data
	}
	data = slices.Clone(data)
	for ; i < len(m.relocs) && m.relocs[i].Offset+8 <= addr+n; i++ {
		word := data[m.relocs[i].Offset-addr:]
		if m.f.BigEndian {
			binary.BigEndian.PutUint64(word, uint64(m.relocs[i].Addend))
		} else {
			binary.LittleEndian.PutUint64(word, uint64(m.relocs[i].Addend))
		}
	}
	return data
}

// goReader makes records of Go's functions.
type goReader struct {
	d       *dumper
	table   *gosym.Table
	next    int               // of d.funcs: the first that ends above the function
	names   map[uint32]uint32 // numbers of dumper.names
	files   map[uint32]uint32
	inlines gosym.Inlines
	ranges  []dwarfx.Range // of the calls of the function at hand
	funcs   []fn
	out     []Func
}

// function adds f, as far as no other function is there.
func (x *goReader) function(f gosym.Func) {
	d := x.d
	for x.next < len(d.funcs) && d.funcs[x.next].hi <= f.Entry {
		x.next++
	}
	end := f.End
	if x.next < len(d.funcs) {
		end = min(end, d.funcs[x.next].lo)
	}
	if _, ok := d.relative(f.Entry); !ok || f.Entry >= end {
		return
	}
	out := Func{Addr: f.Entry - d.bias, Size: end - f.Entry, Name: string(x.table.Name(f.Name))}
	for l, err := range x.table.Lines(f) {
		if err != nil {
			d.loss(fmt.Errorf("%s: %w", d.img.Main.Path(), err))
			break
		}
		if l.End = min(l.End, end); l.File != gosym.Unknown && l.Start < l.End {
			out.lines = x.line(out.lines, l)
		}
	}
	if d.opt.Inlines {
		x.calls(f, &out, end)
	}
	x.funcs = append(x.funcs, fn{lo: f.Entry, hi: end})
	x.out = append(x.out, out)
}

// line appends a line, or extends the last one.
func (x *goReader) line(lines []emit.Line, l gosym.Line) []emit.Line {
	file, addr, size := x.file(l.File), l.Start-x.d.bias, l.End-l.Start
	if n := len(lines) - 1; n >= 0 {
		last := &lines[n]
		if last.File == file && last.Line == l.Line && last.Addr+uint64(last.Size) == addr && uint64(last.Size)+size < 1<<32 {
			last.Size += uint32(size)
			return lines
		}
	}
	for piece := range emit.Pieces(addr, size) {
		lines = append(lines, emit.Line{Addr: piece.Addr, Size: piece.Size, Line: l.Line, File: file})
	}
	return lines
}

// calls adds the inlined calls of f.
func (x *goReader) calls(f gosym.Func, out *Func, end uint64) {
	if err := x.table.Inlines(f, &x.inlines); err != nil {
		x.d.loss(fmt.Errorf("%s: %w", x.d.img.Main.Path(), err))
		return
	}
	x.ranges = x.ranges[:0]
	for c := range x.inlines.Nested {
		from := uint32(len(x.ranges))
		for _, r := range x.inlines.Ranges[c.First:c.Last] {
			if r.End = min(r.End, end); r.Start < r.End {
				x.ranges = append(x.ranges, dwarfx.Range{Lo: r.Start, Hi: r.End})
			}
		}
		if uint32(len(x.ranges)) == from {
			continue
		}
		in := inline{Depth: c.Depth, CallLine: c.Line, CallFile: x.file(c.File), Origin: x.name(c.Name),
			Ranges: dwarfx.Span{From: from, To: uint32(len(x.ranges))}}
		out.inlines = append(out.inlines, in)
	}
	if len(out.inlines) > 0 {
		out.ranges = newRangeList(x.ranges)
	}
}

// file returns the number of a file.
func (x *goReader) file(n uint32) uint32 {
	id, ok := x.files[n]
	if !ok {
		name := []byte(unknownFile)
		if n != gosym.Unknown {
			name = appendPath(nil, nil, nil, x.table.File(n))
		}
		id = x.d.files.id(name)
		x.files[n] = id
	}
	return id
}

// name returns the number of a name.
func (x *goReader) name(n uint32) uint32 {
	id, ok := x.names[n]
	if !ok {
		id = x.d.names.add(string(x.table.Name(n)))
		x.names[n] = id
		x.d.names.wantAdded(id)
	}
	return id
}
