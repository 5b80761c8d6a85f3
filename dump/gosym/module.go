package gosym

import (
	"bytes"
	"encoding/binary"

	"symkit/internal/wire"
)

// module is what is needed of moduledata (runtime/symtab.go): where the code
// and the data of functions are.
type module struct {
	found  bool
	text   uint64 // runtime.text
	gofunc uint64 // go:func.*, which offsets of funcdata count from
	sects  []textSect
}

// textSect maps the offsets from start to end of the text to an address. Only
// a program with more than one text section has them: machines with short
// branches, when the text is large.
type textSect struct{ start, end, addr uint64 }

// Words of moduledata (cmd/link/internal/ld/symtab.go). A slice is three.
const (
	mdHeader  = 0
	mdNames   = 1
	mdCUs     = 4
	mdFuncs   = 16 // ftab
	mdMinPC   = 20
	mdMaxPC   = 21
	mdText    = 22
	mdEText   = 23
	mdCounter = 32 // covctrs and ecovctrs, since Go 1.20
	mdGoFunc  = 38 // before Go 1.20
	mdWords   = 45
)

// findModule looks for the module data: the address of the table is its first
// word, and much else in it can be checked.
func (t *Table) findModule(im Image) module {
	if im.Read == nil {
		return module{}
	}
	var needle [8]byte
	word := needle[:t.ptrSize]
	switch {
	case t.ptrSize == 4 && t.big:
		binary.BigEndian.PutUint32(word, uint32(t.addr))
	case t.ptrSize == 4:
		binary.LittleEndian.PutUint32(word, uint32(t.addr))
	case t.big:
		binary.BigEndian.PutUint64(word, t.addr)
	default:
		binary.LittleEndian.PutUint64(word, t.addr)
	}
	for _, r := range im.Data {
		if r.End < r.Start {
			continue
		}
		data := im.Read(r.Start, r.End-r.Start)
		for off := 0; off < len(data); off += t.ptrSize {
			n := bytes.Index(data[off:], word)
			if n < 0 {
				break
			}
			off += n
			if m := t.moduleAt(data[off:]); m.found {
				return m
			}
			off -= off % t.ptrSize
		}
	}
	return module{}
}

// moduleAt reads the module data at the start of data, if that is what is there.
func (t *Table) moduleAt(data []byte) module {
	var w [mdWords]uint64
	c := wire.New("moduledata", data, t.big)
	for i := range w {
		w[i] = c.Uint(t.ptrSize)
	}
	switch {
	case c.Err() != nil,
		w[mdNames] != t.addr+t.names,
		w[mdCUs] != t.addr+t.cus,
		w[mdFuncs] != t.addr+t.funcs,
		w[mdFuncs+1] != t.nfunc+1,
		w[mdText] > w[mdMinPC] || w[mdMinPC] > w[mdMaxPC] || w[mdMaxPC] > w[mdEText]:
		return module{}
	}
	goFunc := mdGoFunc
	if t.version >= Go120 {
		goFunc += 2
	}
	m := module{found: true, text: w[mdText], gofunc: w[goFunc]}
	// Since Go 1.26 epclntab comes between gofunc and textsectmap. A slice of
	// the linker has its length twice.
	sects := goFunc + 1
	if t.version >= Go120 && w[sects+1] != w[sects+2] {
		sects++
	}
	m.sects = t.textSects(w[sects], w[sects+1], w[sects+2])
	return m
}

// textSects reads textsectmap. One section needs none.
func (t *Table) textSects(addr, n, capacity uint64) []textSect {
	size := uint64(3 * t.ptrSize)
	if n != capacity || n < 2 || n > 1<<16 {
		return nil
	}
	data := t.read(addr, n*size)
	c := wire.New("textsectmap", data, t.big)
	var sects []textSect
	for c.Len() > 0 {
		s := textSect{c.Uint(t.ptrSize), c.Uint(t.ptrSize), c.Uint(t.ptrSize)}
		if c.Err() == nil {
			sects = append(sects, s)
		}
	}
	return sects
}

// textAddr is the address of an offset in the text: textAddr of
// runtime/symtab.go. The end of the last section belongs to it.
func (t *Table) textAddr(off uint64) uint64 {
	for i, s := range t.module.sects {
		if off >= s.start && (off < s.end || off == s.end && i == len(t.module.sects)-1) {
			return s.addr + off - s.start
		}
	}
	return t.module.text + off
}
