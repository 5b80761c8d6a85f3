package gotable

import (
	"math"

	"symkit/check/internal/pcs"
	"symkit/elfx"
	"symkit/internal/wire"
)

// Two of Go's tables describe the inlined calls of a function (runtime/symtabinl.go). A pc-value
// table gives each instruction the index of an entry of the function's inline tree, or -1. An entry
// names the called function and an instruction whose own position, inlined calls included, is that
// of the call. The calls of an instruction are found as the runtime finds them: index, entry, the
// entry's instruction, its index, and so on. debug/gosym reads neither table. The code here shares
// nothing with that of package dump, so that a mistake in one is found by the other.

// Inlines finds the inlined calls of a Go program's functions.
type Inlines struct {
	Header
	data []byte // .gopclntab
	addr uint64
	big  bool
	base uint64 // address that the offsets of inline trees count from, since Go 1.18
	read func(addr, n uint64) []byte

	texts map[uint64]string // by offset: names and files
	Steps int64             // number of runs read so far
}

// Notes on inlined calls that are not verified.
const (
	noteGoOld    = "inlined calls of Go before 1.16 are not read"
	NoteGoBase   = "where .gopclntab's inline trees are was not found"
	NoteGoDamage = "damaged tables of inlined calls in .gopclntab"
)

// NewInlines reads the header of the table, data, at addr. It returns nil and a
// note if the inlined calls cannot be read.
func NewInlines(f *elfx.File, data []byte, addr uint64) (*Inlines, string) {
	mem := newGoWords(f)
	if moved := mem.bytes(addr, uint64(len(data))); moved != nil {
		data = moved
	}
	h, err := ReadHeader(data, f.BigEndian)
	known := h.magic == goMagic116 || h.magic == goMagic118 || h.magic == goMagic120
	if !known || h.word != 4 && h.word != 8 {
		return nil, noteGoOld
	}
	if err != nil || h.truncated {
		return nil, NoteGoDamage
	}

	g := &Inlines{Header: h, data: data, addr: addr, big: f.BigEndian, read: f.BytesAt, texts: map[uint64]string{}}
	if g.magic != goMagic116 && !g.findBase(f, mem) {
		return nil, NoteGoBase
	}
	return g, ""
}

// at returns a cursor at an offset of the table.
func (g *Inlines) at(off uint64) wire.Cursor {
	c := wire.New(".gopclntab", g.data, g.big)
	if off > uint64(len(g.data)) {
		c.Fail(len(g.data), wire.ErrOffset)
	}
	c.Seek(off)
	return c
}

// str returns the string at offset off of the part of the table at base. It returns false if no
// string begins there. Strings begin where others end, so that all of them together are no longer
// than the table.
func (g *Inlines) str(base, off uint64) (string, bool) {
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

// Code is the table's content about one function.
type Code struct {
	lo, hi      uint64
	Tree        uint64 // address of the inline tree, 0 without one
	Index       []Run
	Files, Line []Run
	cu          uint64
}

// Run is the value of a pc-value table in a range.
type Run struct {
	pcs.Range
	Value int32
}

// Function reads the table's content about function i, whose code is [lo, hi). It returns false if
// the record is damaged. Files and lines are not read: offsets are those of their tables.
func (g *Inlines) Function(i int, lo, hi uint64) (code Code, offsets [2]uint32, ok bool) {
	// The function table has pairs of entry and offset of the record.
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
	code = Code{lo: lo, hi: hi, cu: uint64(c.U32())}
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

	// The offset of the index table, and the address or offset of the tree.
	c = g.at(tables + 4*inlinePCData)
	table := c.U32()
	at, step := tables+4*pcdatas, uint64(4)
	if g.magic == goMagic116 { // addresses, at aligned ones
		step = uint64(g.word)
		at = (g.addr+at+step-1)/step*step - g.addr
	}
	c = g.at(at + inlineFuncdata*step)
	code.Tree = c.Uint(int(step))
	if c.Err() != nil {
		return code, offsets, false
	}
	if g.magic != goMagic116 {
		if code.Tree == math.MaxUint32 {
			return code, offsets, true
		}
		code.Tree += g.base
	}
	if table == 0 || code.Tree == 0 {
		code.Tree = 0
		return code, offsets, true
	}
	code.Index, ok = g.Runs(table, lo, hi)
	return code, offsets, ok
}

// maxEmptyRuns bounds the consecutive runs without code, so that the time for reading a table is
// bounded by the number of bytes of code.
const maxEmptyRuns = 256

// Runs reads a pc-value table for [lo, hi) (runtime/symtab.go, step).
func (g *Inlines) Runs(table uint32, lo, hi uint64) (runs []Run, ok bool) {
	c := g.at(g.pcs + uint64(table))
	value, pc, empty := int32(-1), lo, 0
	for first := true; pc < hi; first = false {
		g.Steps++

		// A value of 0 ends the table, except as the first one.
		delta := c.ULEB()
		if c.Err() != nil {
			return nil, false
		}
		if delta == 0 && !first {
			break
		}
		step := c.ULEB() * g.quantum
		empty++
		if step > 0 {
			empty = 0
		}
		if c.Err() != nil || delta > math.MaxUint32 || step > math.MaxUint32 || empty > maxEmptyRuns {
			return nil, false
		}

		// The change of the value is zigzag encoded.
		value += int32(delta>>1) ^ -int32(delta&1)
		if step > 0 {
			runs = append(runs, Run{pcs.Range{Lo: pc, Hi: min(pc+step, hi)}, value})
		}
		pc += step
	}
	return runs, true
}

// ValueAt returns the value at pc, -1 if there is none.
func ValueAt(runs []Run, pc uint64) int32 {
	i := pcs.After(runs, pc)
	if i == len(runs) || runs[i].Lo > pc {
		return -1
	}
	return runs[i].Value
}

// Entry is an entry of an inline tree.
type Entry struct {
	Name string
	At   uint64 // the instruction with the position of the call
	zero bool   // name and distance are 0, as bytes outside of trees often are
}

// entry reads entry i of the tree of code: inlinedCall of runtime/symtabinl.go.
func (g *Inlines) entry(code *Code, i int32) (e Entry, ok bool) {
	size, nameAt := uint64(16), uint64(4)
	if g.magic != goMagic120 {
		size, nameAt = 20, 12
	}
	data := g.read(code.Tree+uint64(i)*size, size)
	if uint64(len(data)) != size {
		return e, false
	}

	// Padding has to be 0.
	c := wire.New("inline tree", data, g.big)
	c.Skip(3)
	if nameAt == 4 && data[1]|data[2] != 0 || c.U8() != 0 { // padding
		return e, false
	}

	c.Seek(nameAt)
	first, distance := c.U32(), c.U32()
	e.zero = first|distance == 0
	e.At = code.lo + uint64(distance)
	if e.At >= code.hi {
		return e, false
	}
	e.Name, ok = g.str(g.names, uint64(first))
	return e, ok && e.Name != ""
}

// maxGoDepth bounds a chain of inlined calls.
const maxGoDepth = 256

// Chain returns the entries of the inlined calls at an instruction with index i of the tree,
// innermost first.
func (g *Inlines) Chain(code *Code, i int32) (chain []Entry, ok bool) {
	for i >= 0 {
		e, ok := g.entry(code, i)
		if !ok || len(chain) == maxGoDepth {
			return nil, false
		}

		chain = append(chain, e)

		// The call around it.
		i = ValueAt(code.Index, e.At)
		if i < 0 {
			break
		}
		// If the linker had no instruction for the place of the call, it took an instruction of the
		// call itself or of another such call: nothing is known of the calls around this one.
		if around, ok := g.entry(code, i); ok && around.At == e.At {
			break
		}
	}
	return chain, true
}

// File returns the name of file n in the unit of code. It returns false if the name is not known.
func (g *Inlines) File(code *Code, n int32) (string, bool) {
	c := g.at(g.cus + 4*(code.cu+uint64(n)))
	off := c.U32()
	if n < 0 || c.Err() != nil || off == math.MaxUint32 {
		return "", false
	}
	return g.str(g.files, uint64(off))
}
