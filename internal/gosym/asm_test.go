package gosym

import (
	"encoding/binary"
	"slices"

	"symkit/internal/wire"
)

// asm builds a pclntab and its module data. Layouts differ by version, byte
// order and pointer size; the content is that of the fields.
type asm struct {
	version Version
	big     bool
	ptr     int
	quantum byte

	text  uint64 // address of the code
	addr  uint64 // of the table
	funcs []asmFunc
	files []string
	// Module data: absent with noModule.
	noModule bool
	epclntab bool // as since Go 1.26
	sects    []textSect
	// Words that no known release has: before minpc and before gofunc.
	moreFront, more []uint64
}

type asmFunc struct {
	name  string
	size  uint64 // to the next function
	files []run
	lines []run
	inl   []run
	tree  []asmCall
	start uint32
}

// run is a value for size bytes of code.
type run struct {
	value int32
	size  uint32
}

type asmCall struct {
	name     string
	parentPC uint32
	start    uint32
}

// out is bytes that numbers are appended to.
type out struct {
	b   []byte
	big bool
	ptr int
}

func (o *out) u32(v uint32) {
	if o.big {
		o.b = binary.BigEndian.AppendUint32(o.b, v)
		return
	}
	o.b = binary.LittleEndian.AppendUint32(o.b, v)
}

func (o *out) word(v uint64) {
	switch {
	case o.ptr == 4:
		o.u32(uint32(v))
	case o.big:
		o.b = binary.BigEndian.AppendUint64(o.b, v)
	default:
		o.b = binary.LittleEndian.AppendUint64(o.b, v)
	}
}

func (o *out) patch(at int, v uint32) {
	if o.big {
		binary.BigEndian.PutUint32(o.b[at:], v)
		return
	}
	binary.LittleEndian.PutUint32(o.b[at:], v)
}

// strings lays strings out and remembers where.
type stringTable struct {
	b   []byte
	off map[string]uint32
}

func (s *stringTable) add(str string) uint32 {
	if s.off == nil {
		s.off = map[string]uint32{}
	}
	if off, ok := s.off[str]; ok {
		return off
	}
	off := uint32(len(s.b))
	s.off[str] = off
	s.b = append(append(s.b, str...), 0)
	return off
}

// pcvalues encodes a pc-value table.
func pcvalues(runs []run, quantum byte) []byte {
	var b []byte
	value := int32(-1)
	for _, r := range runs {
		delta := r.value - value
		value = r.value
		b = binary.AppendUvarint(b, uint64(uint32(delta<<1)^uint32(delta>>31)))
		b = binary.AppendUvarint(b, uint64(r.size/uint32(quantum)))
	}
	return append(b, 0)
}

// dataAddr is where the module data and the inline trees are.
const dataAddr = 0x900000

// content is the parts of a table whose places are still open.
type content struct {
	names, paths stringTable
	pcs          []byte
	trees        out
	funcs        []asmOffsets
	cus          []uint32
}

// asmOffsets is what a _func refers to.
type asmOffsets struct{ name, files, lines, inl, tree uint32 }

func (a *asm) content() *content {
	c := &content{pcs: []byte{0}, trees: out{big: a.big, ptr: a.ptr}}
	c.names.add("") // number 0 is no name
	table := func(runs []run) uint32 {
		if runs == nil {
			return 0
		}
		c.pcs = append(c.pcs, pcvalues(runs, a.quantum)...)
		return uint32(len(c.pcs) - len(pcvalues(runs, a.quantum)))
	}
	for _, f := range a.funcs {
		if a.version == Go12 { // counts files from 1
			f.files = slices.Clone(f.files)
			for i := range f.files {
				f.files[i].value++
			}
		}
		l := asmOffsets{c.names.add(f.name), table(f.files), table(f.lines), table(f.inl), ^uint32(0)}
		if f.tree != nil {
			l.tree = uint32(len(c.trees.b))
		}
		for _, call := range f.tree {
			c.trees.u32(0)
			if a.version < Go120 {
				c.trees.u32(0)
				c.trees.u32(0)
			}
			c.trees.u32(c.names.add(call.name))
			c.trees.u32(call.parentPC)
			if a.version >= Go120 {
				c.trees.u32(call.start)
			}
		}
		c.funcs = append(c.funcs, l)
	}
	for _, f := range a.files {
		c.cus = append(c.cus, c.paths.add(f))
	}
	return c
}

// build returns the table and the rest of the file.
func (a *asm) build() ([]byte, Image) {
	c := a.content()
	o := &out{big: a.big, ptr: a.ptr}
	for _, m := range magics {
		if m.version == a.version {
			o.u32(m.magic)
		}
	}
	o.b = append(o.b, 0, 0, a.quantum, byte(a.ptr))
	o.word(uint64(len(a.funcs)))
	if a.version == Go12 {
		a.build12(c, o)
		return o.b, a.image(o.b, nil, nil)
	}
	o.word(uint64(len(a.files)))
	if a.version >= Go118 {
		o.word(0)
	}
	header := len(o.b)
	o.b = append(o.b, make([]byte, 5*a.ptr)...)
	h := out{big: a.big, ptr: a.ptr}
	mark := func() {
		o.b = append(o.b, make([]byte, -len(o.b)&7)...)
		h.word(uint64(len(o.b)))
	}
	mark()
	o.b = append(o.b, c.names.b...)
	mark()
	for _, off := range c.cus {
		o.u32(off)
	}
	mark()
	o.b = append(o.b, c.paths.b...)
	mark()
	o.b = append(o.b, c.pcs...)
	mark()
	start := len(o.b)
	ftab := a.ftab(o)
	for i := range a.funcs {
		ftab[i](uint32(len(o.b) - start))
		a.record(o, i, c.funcs[i])
	}
	copy(o.b[header:], h.b)
	return o.b, a.image(o.b, h.b, c.trees.b)
}

// build12 lays a table of Go 1.2 to 1.15 out: all offsets count from its start.
func (a *asm) build12(c *content, o *out) {
	ftab := a.ftab(o)
	fileAt := len(o.b)
	o.u32(0)
	names := uint32(len(o.b))
	o.b = append(o.b, c.names.b...)
	pcs := uint32(len(o.b))
	o.b = append(o.b, c.pcs...)
	for i, f := range c.funcs {
		for _, off := range []*uint32{&f.files, &f.lines} {
			if *off != 0 {
				*off += pcs
			}
		}
		f.name += names
		ftab[i](uint32(len(o.b)))
		a.record(o, i, f)
	}
	o.patch(fileAt, uint32(len(o.b)))
	o.u32(uint32(len(c.cus)) + 1) // the count itself is file 0
	paths := uint32(len(o.b) + 4*len(c.cus))
	for _, off := range c.cus {
		o.u32(paths + off)
	}
	o.b = append(o.b, c.paths.b...)
}

// field writes an entry of the function table.
func (a *asm) field(o *out, off uint64) {
	if a.version >= Go118 {
		o.u32(uint32(off))
	} else {
		o.word(a.text + off)
	}
}

// ftab writes the function table and returns what sets the offset of each
// function's record.
func (a *asm) ftab(o *out) (set []func(uint32)) {
	pc := uint64(0)
	for _, f := range a.funcs {
		a.field(o, pc)
		pc += f.size
		at := len(o.b)
		if a.version >= Go118 {
			o.u32(0)
		} else {
			o.word(0)
			if a.big {
				at = len(o.b) - 4
			}
		}
		set = append(set, func(v uint32) { o.patch(at, v) })
	}
	a.field(o, pc)
	return set
}

// record writes a _func.
func (a *asm) record(o *out, i int, f asmOffsets) {
	pc := uint64(0)
	for _, f := range a.funcs[:i] {
		pc += f.size
	}
	a.field(o, pc)
	for _, v := range []uint32{f.name, 0, 0, 0, f.files, f.lines, 3} {
		o.u32(v)
	}
	if a.version >= Go116 {
		o.u32(0) // unit
	}
	if a.version >= Go120 {
		o.u32(a.funcs[i].start)
	}
	o.b = append(o.b, 0, 0, 0, 4)
	for _, v := range []uint32{0, 0, f.inl} {
		o.u32(v)
	}
	if a.version == Go116 { // pointers
		for (a.addr+uint64(len(o.b)))%uint64(a.ptr) != 0 {
			o.b = append(o.b, 0xff)
		}
		for range 3 {
			o.word(0)
		}
		if f.tree == ^uint32(0) {
			o.word(0)
		} else {
			o.word(treeAddr + uint64(f.tree))
		}
		return
	}
	for _, v := range []uint32{^uint32(0), ^uint32(0), ^uint32(0), f.tree} {
		o.u32(v)
	}
}

// treeAddr is where the inline trees are.
const treeAddr = dataAddr + 0x1000

// image lays the module data and the inline trees out.
func (a *asm) image(table, starts, trees []byte) Image {
	var end uint64
	for _, f := range a.funcs {
		end += f.size
	}
	im := Image{Exec: []Range{{Lo: a.text, Hi: a.text + 0x100000}}, Text: a.text}
	if starts == nil || a.noModule {
		return im
	}
	md := out{big: a.big, ptr: a.ptr}
	md.word(0xdead) // something in front
	slice := func(addr, n uint64) { md.word(addr); md.word(n); md.word(n) }
	md.word(a.addr)
	var start uint64
	for c := wire.New("", starts, a.big); c.Len() > 0; {
		start = c.Uint(a.ptr)
		slice(a.addr+start, 1)
	}
	slice(a.addr+start, uint64(len(a.funcs))+1)
	md.word(0)
	for _, v := range a.moreFront {
		md.word(v)
	}
	md.word(a.text)
	md.word(a.text + end)
	md.word(a.text)
	md.word(a.text + end)
	words := 14
	if a.version >= Go120 {
		words += 2
	}
	for range words {
		md.word(0)
	}
	for _, v := range a.more {
		md.word(v)
	}
	md.word(treeAddr) // gofunc
	if a.epclntab {
		md.word(a.addr + uint64(len(table)))
	}
	const sectAddr = dataAddr + 0x800
	slice(sectAddr, max(1, uint64(len(a.sects))))
	for range 8 {
		md.word(0)
	}
	sects := out{big: a.big, ptr: a.ptr}
	for _, s := range a.sects {
		sects.word(s.start)
		sects.word(s.end)
		sects.word(s.addr)
	}
	data := make([]byte, 0x1000+len(trees))
	copy(data, md.b)
	copy(data[0x800:], sects.b)
	copy(data[0x1000:], trees)
	im.Data = []Range{{Lo: dataAddr, Hi: dataAddr + uint64(len(data))}}
	im.Read = func(addr, n uint64) []byte {
		if addr < dataAddr || addr-dataAddr > uint64(len(data)) || n > uint64(len(data))-(addr-dataAddr) {
			return nil
		}
		return data[addr-dataAddr:][:n:n]
	}
	return im
}
