package check

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"symkit/elfx"
	"symkit/internal/wire"
)

// Go's tables describe the inlined calls of a function by two of its tables
// (runtime/symtabinl.go). A pc-value table gives each instruction the index of an
// entry of the function's inline tree, or -1. An entry names the called function
// and an instruction whose own position, inlined calls included, is that of the
// call. So the stack of an instruction is found as the runtime finds it: index,
// entry, the entry's instruction, its index, and so on. debug/gosym reads none of
// this; the reading here shares nothing with dump's, so that neither vouches for
// itself.

// goInlines finds the inlined calls of a Go program's functions.
type goInlines struct {
	data    []byte // .gopclntab
	addr    uint64
	big     bool
	magic   uint32
	word    int
	quantum uint64
	base    uint64 // what the offsets of inline trees count from, since Go 1.18
	read    func(addr, n uint64) []byte

	nfunc, names, cus, files, pcs, funcs uint64 // of the header

	texts map[uint64]string // by offset: names and files
	steps int64             // runs that were read
}

// Magic numbers of the tables that have inline trees as they are read here.
const (
	goMagic116 = 0xfffffffa
	goMagic118 = 0xfffffff0
	goMagic120 = 0xfffffff1
)

// Notes on inlined calls that are not verified.
const (
	noteGoOld    = "inlined calls of Go before 1.16 are not read"
	noteGoBase   = "where .gopclntab's inline trees are was not found"
	noteGoDamage = "damaged tables of inlined calls in .gopclntab"
)

// newGoInlines reads the header of the table, data, at addr. It returns nil and a
// note if the inlined calls cannot be read.
func newGoInlines(f *elfx.File, data []byte, addr uint64) (*goInlines, string) {
	mem := newGoWords(f)
	if moved := mem.bytes(addr, uint64(len(data))); moved != nil {
		data = moved
	}
	g := &goInlines{data: data, addr: addr, big: f.BigEndian, read: f.BytesAt, texts: map[uint64]string{}}
	c := g.at(0)
	g.magic = c.U32()
	c.Skip(2)
	g.quantum, g.word = uint64(max(c.U8(), 1)), int(c.U8())
	if g.magic != goMagic116 && g.magic != goMagic118 && g.magic != goMagic120 || g.word != 4 && g.word != 8 {
		return nil, noteGoOld
	}

	g.nfunc = c.Uint(g.word)
	c.Skip(uint64(g.word)) // number of files
	if g.magic != goMagic116 {
		c.Skip(uint64(g.word)) // start of the text
	}
	for _, part := range []*uint64{&g.names, &g.cus, &g.files, &g.pcs, &g.funcs} {
		*part = c.Uint(g.word)
	}
	if c.Err() != nil {
		return nil, noteGoDamage
	}
	if g.magic != goMagic116 && !g.findBase(f, mem) {
		return nil, noteGoBase
	}
	return g, ""
}

// at is a cursor at an offset of the table.
func (g *goInlines) at(off uint64) wire.Cursor {
	c := wire.New(".gopclntab", g.data, g.big)
	if off > uint64(len(g.data)) {
		c.Fail(len(g.data), wire.ErrOffset)
	}
	c.Seek(off)
	return c
}

// str is the string of the part at base that begins at off there; false for none.
// Strings begin where others end, so all of them are no longer than the table.
func (g *goInlines) str(base, off uint64) (string, bool) {
	at := base + off
	if at < base || at > uint64(len(g.data)) || off > 0 && g.data[at-1] != 0 {
		return "", false
	}
	s, ok := g.texts[at]
	if !ok {
		c := g.at(at)
		s = string(c.CString())
		if c.Err() != nil {
			return "", false
		}
		g.texts[at] = s
	}
	return s, true
}

// goCode is what the table says of one function.
type goCode struct {
	lo, hi      uint64
	tree        uint64 // address of the inline tree, 0 without one
	index       []goRun
	files, line []goRun
	cu          uint64
}

// goRun is the value of a pc-value table in [lo, hi).
type goRun struct {
	lo, hi uint64
	value  int32
}

// function reads what the table says of function i, whose code is [lo, hi).
// It returns false if that is damaged. Files and lines are not read yet.
func (g *goInlines) function(i int, lo, hi uint64) (code goCode, offsets [2]uint32, ok bool) {
	size := 4
	if g.magic == goMagic116 {
		size = g.word
	}
	c := g.at(g.funcs + uint64(2*i+1)*uint64(size))
	record := g.funcs + c.Uint(size)
	if c.Err() != nil {
		return code, offsets, false
	}

	c = g.at(record)
	c.Skip(uint64(size) + 4*4) // entry, name, args, deferreturn, pcsp
	offsets = [2]uint32{c.U32(), c.U32()}
	pcdatas := uint64(c.U32())
	code = goCode{lo: lo, hi: hi, cu: uint64(c.U32())}
	if g.magic == goMagic120 {
		c.Skip(4) // line of the func keyword
	}
	c.Skip(3)
	funcdatas := c.U8()
	tables := uint64(c.Pos())
	const inlinePCData, inlineFuncdata = 2, 3 // internal/abi/symtab.go
	if c.Err() != nil {
		return code, offsets, false
	}
	if pcdatas <= inlinePCData || funcdatas <= inlineFuncdata {
		return code, offsets, true
	}

	c = g.at(tables + 4*inlinePCData)
	table := c.U32()
	at, step := tables+4*pcdatas, uint64(4)
	if g.magic == goMagic116 { // addresses, at aligned ones
		step = uint64(g.word)
		at = (g.addr+at+step-1)/step*step - g.addr
	}
	c = g.at(at + inlineFuncdata*step)
	code.tree = c.Uint(int(step))
	if c.Err() != nil {
		return code, offsets, false
	}
	if g.magic != goMagic116 {
		if code.tree == math.MaxUint32 {
			return code, offsets, true
		}
		code.tree += g.base
	}
	if table == 0 || code.tree == 0 {
		code.tree = 0
		return code, offsets, true
	}
	code.index, ok = g.runs(table, lo, hi)
	return code, offsets, ok
}

// maxEmptyRuns bounds the runs without code that follow each other, so that
// reading a table takes no more time than its code has bytes.
const maxEmptyRuns = 256

// runs reads a pc-value table for [lo, hi) (runtime/symtab.go, step).
func (g *goInlines) runs(table uint32, lo, hi uint64) (runs []goRun, ok bool) {
	c := g.at(g.pcs + uint64(table))
	value, pc, empty := int32(-1), lo, 0
	for first := true; pc < hi; first = false {
		g.steps++
		delta := c.ULEB()
		if c.Err() != nil {
			return nil, false
		}
		if delta == 0 && !first {
			break
		}
		step := c.ULEB() * g.quantum
		if empty++; step > 0 {
			empty = 0
		}
		if c.Err() != nil || delta > math.MaxUint32 || step > math.MaxUint32 || empty > maxEmptyRuns {
			return nil, false
		}
		value += int32(delta>>1) ^ -int32(delta&1)
		if step > 0 {
			runs = append(runs, goRun{pc, min(pc+step, hi), value})
		}
		pc += step
	}
	return runs, true
}

// valueAt is the value at pc, -1 for none.
func valueAt(runs []goRun, pc uint64) int32 {
	i, found := slices.BinarySearchFunc(runs, pc, func(r goRun, pc uint64) int {
		switch {
		case r.hi <= pc:
			return -1
		case r.lo > pc:
			return 1
		}
		return 0
	})
	if !found {
		return -1
	}
	return runs[i].value
}

// goEntry is an entry of an inline tree.
type goEntry struct {
	name string
	at   uint64 // the instruction with the position of the call
	zero bool   // all zero, as are bytes that are no tree
}

// entry reads entry i of the tree of code: inlinedCall of runtime/symtabinl.go.
func (g *goInlines) entry(code *goCode, i int32) (e goEntry, ok bool) {
	size, nameAt := uint64(16), uint64(4)
	if g.magic != goMagic120 {
		size, nameAt = 20, 12
	}
	data := g.read(code.tree+uint64(i)*size, size)
	if uint64(len(data)) != size {
		return e, false
	}
	c := wire.New("inline tree", data, g.big)
	c.Skip(3)
	if nameAt == 4 && data[1]|data[2] != 0 || c.U8() != 0 { // padding
		return e, false
	}
	c.Seek(nameAt)
	first, distance := c.U32(), c.U32()
	e.zero = first|distance == 0
	e.at = code.lo + uint64(distance)
	if e.at >= code.hi {
		return e, false
	}
	e.name, ok = g.str(g.names, uint64(first))
	return e, ok && e.name != ""
}

// maxGoDepth bounds a chain of inlined calls.
const maxGoDepth = 256

// chain is the entries of the inlined calls at an instruction with index i of
// the tree, innermost first.
func (g *goInlines) chain(code *goCode, i int32) (chain []goEntry, ok bool) {
	for i >= 0 {
		e, ok := g.entry(code, i)
		if !ok || len(chain) == maxGoDepth {
			return nil, false
		}
		chain = append(chain, e)
		if i = valueAt(code.index, e.at); i < 0 {
			break
		}
		// The linker had no instruction for the place of the call, and took one of
		// the call itself or of another such call: nothing is known around it.
		if around, ok := g.entry(code, i); ok && around.at == e.at {
			break
		}
	}
	return chain, true
}

// file is the name of file n in the unit of code; false if it is not known.
func (g *goInlines) file(code *goCode, n int32) (string, bool) {
	c := g.at(g.cus + 4*(code.cu+uint64(n)))
	off := c.U32()
	if n < 0 || c.Err() != nil || off == math.MaxUint32 {
		return "", false
	}
	return g.str(g.files, uint64(off))
}

// findBase finds what the offsets of inline trees count from: gofunc of
// runtime.moduledata, a struct that begins with the address of the table and
// changes with Go's releases. The word is gofunc with which the trees of all
// functions are right, or of most in a damaged file.
func (g *goInlines) findBase(f *elfx.File, mem *goWords) bool {
	trees := g.trees(codeOf(f).size())
	if len(trees) == 0 {
		return true
	}
	best := len(trees) / 2
	for _, at := range mem.find(f, g.addr, g.word) {
		for i := range uint64(moduleWords) {
			base, ok := mem.word(at+i*uint64(g.word), g.word)
			if !ok {
				break
			}
			if base == 0 || base == g.base {
				continue
			}
			right := 0
			for k := range trees {
				if g.rightTree(&trees[k], base) {
					right++
				}
			}
			if right > best {
				best, g.base = right, base
			}
		}
	}
	return g.base != 0
}

// Bounds of the search for the base.
const (
	moduleWords = 80  // of runtime.moduledata
	sampleOfGo  = 200 // functions with inlined calls
)

// trees are functions with inlined calls, which have size bytes of code at most.
// Their trees are offsets, and their addresses count from 0.
func (g *goInlines) trees(size uint64) (trees []goCode) {
	for i := uint64(0); i < g.nfunc && len(trees) < sampleOfGo; i++ {
		c := g.at(g.funcs + 8*i)
		lo := uint64(c.U32())
		c.Skip(4)
		hi := uint64(c.U32())
		if c.Err() != nil || hi < lo || hi-lo > size {
			break
		}
		size -= hi - lo
		code, _, ok := g.function(int(i), lo, hi)
		if ok && code.tree != 0 && slices.ContainsFunc(code.index, func(r goRun) bool { return r.value >= 0 }) {
			trees = append(trees, code)
		}
	}
	return trees
}

// rightTree tells whether the first entries that the code names are right when
// trees count from base.
func (g *goInlines) rightTree(code *goCode, base uint64) bool {
	moved := *code
	moved.tree += base
	for _, r := range code.index[:min(len(code.index), 32)] {
		if r.value < 0 {
			continue
		}
		if e, ok := g.entry(&moved, r.value); !ok || e.zero {
			return false
		}
	}
	return true
}

// goWords reads addresses in a program's memory as they are at run time, at load
// address 0: in position-independent ones they are made by relocations.
type goWords struct {
	f      *elfx.File
	relocs []elfx.Reloc // those without a symbol, by offset
}

func newGoWords(f *elfx.File) *goWords {
	m := &goWords{f: f}
	s := f.Section(".rela.dyn")
	if s == nil || !s.Present() {
		return m
	}
	relocs, err := s.Relocs()
	if err != nil {
		return m
	}
	m.relocs = slices.DeleteFunc(slices.Clone(relocs), func(r elfx.Reloc) bool { return r.Sym != 0 })
	slices.SortFunc(m.relocs, func(a, b elfx.Reloc) int { return cmp.Compare(a.Offset, b.Offset) })
	return m
}

// within are the relocations of [addr, addr+n).
func (m *goWords) within(addr, n uint64) []elfx.Reloc {
	find := func(addr uint64) int {
		i, _ := slices.BinarySearchFunc(m.relocs, addr, func(r elfx.Reloc, a uint64) int { return cmp.Compare(r.Offset, a) })
		return i
	}
	if addr+n < addr {
		return nil
	}
	return m.relocs[find(addr):find(addr+n)]
}

func (m *goWords) word(addr uint64, size int) (uint64, bool) {
	if r := m.within(addr, 1); len(r) > 0 {
		return uint64(r[0].Addend), true
	}
	data := m.f.BytesAt(addr, uint64(size))
	if data == nil {
		return 0, false
	}
	c := wire.New("", data, m.f.BigEndian)
	return c.Uint(size), true
}

// bytes are the n bytes at addr, nil where the file has none.
func (m *goWords) bytes(addr, n uint64) []byte {
	data, relocs := m.f.BytesAt(addr, n), m.within(addr, n)
	if data == nil || len(relocs) == 0 {
		return data
	}
	data = slices.Clone(data)
	for _, r := range relocs {
		if word := data[r.Offset-addr:]; len(word) >= 8 {
			m.order().PutUint64(word, uint64(r.Addend))
		}
	}
	return data
}

func (m *goWords) order() binary.ByteOrder {
	if m.f.BigEndian {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// find are the places in data sections that hold the address want.
func (m *goWords) find(f *elfx.File, want uint64, size int) (at []uint64) {
	for _, r := range m.relocs {
		if uint64(r.Addend) == want {
			at = append(at, r.Offset)
		}
	}
	needle := make([]byte, size)
	if size == 4 {
		m.order().PutUint32(needle, uint32(want))
	} else {
		m.order().PutUint64(needle, want)
	}
	const most = 64 // places
	for _, name := range []string{".go.module", ".noptrdata", ".data", ".data.rel.ro"} {
		s := f.Section(name)
		if s == nil || !s.Present() {
			continue
		}
		data := f.BytesAt(s.Addr, s.Size)
		for off := 0; len(at) < most; off++ {
			i := bytes.Index(data[off:], needle)
			if i < 0 {
				break
			}
			if off += i; (s.Addr+uint64(off))%uint64(size) == 0 {
				at = append(at, s.Addr+uint64(off))
			}
		}
	}
	return at[:min(len(at), most)]
}
