package gosym

import (
	"bytes"
	"encoding/binary"

	"symkit/internal/wire"
)

// The linker writes moduledata (runtime/symtab.go) without a version, and the struct
// changes in most releases: Go 1.20 added covctrs, Go 1.26 epclntab, Go 1.27 three words
// before rodata. So no word but the first few is taken by its index. Each wanted word is
// searched for by the conditions that it must satisfy: ftab has the table's own count of
// functions, text makes the first function begin at minpc, textsectmap begins with text,
// and the inline trees of many functions are valid only if their offsets count from
// gofunc.

// module has the fields of moduledata that the package needs.
type module struct {
	found  bool
	text   uint64 // runtime.text
	gofunc uint64 // go:func.*, which offsets of funcdata count from; 0 if no word fits
	sects  []textSect
	words  []uint64 // after etext
}

// textSect maps the offsets from start to end of the text to an address. Only
// a program with more than one text section has them: machines with short
// branches, when the text is large.
type textSect struct{ start, end, addr uint64 }

// maxModuleWords is the number of words of moduledata that are searched. Go 1.27 has the
// wanted fields in the first 48.
const maxModuleWords = 96

// findModule looks for the module data: the address of the table is its first
// word, and many of the other words can be checked.
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

	// The address may occur elsewhere, too: moduleAt checks each place.
	for _, r := range im.Data {
		if r.Hi < r.Lo {
			continue
		}
		data := im.Read(r.Lo, r.Hi-r.Lo)
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

// moduleAt reads the module data at the start of data; found is false if the bytes are
// something else.
func (t *Table) moduleAt(data []byte) module {
	c := wire.New("moduledata", data, t.big)
	w := make([]uint64, min(maxModuleWords, len(data)/t.ptrSize))
	for i := range w {
		w[i] = c.Uint(t.ptrSize)
	}
	text := t.textWord(w)
	if text < 0 {
		return module{}
	}

	m := module{found: true, text: w[text], words: w[text+2:]}
	for i := range m.words {
		m.sects = t.textSects(m.words[i:], m.text)
		if m.sects != nil {
			break
		}
	}
	return m
}

// textWord returns the index of text in the words of moduledata, or -1 if the
// words are something else. The words before it name the parts of the table, in
// the order of the table's header; then come ftab, findfunctab, minpc and maxpc.
func (t *Table) textWord(w []uint64) int {
	i := 0
	for _, part := range [...]uint64{0, t.names, t.cus, t.files, t.pcs, t.funcs} {
		for i < len(w) && w[i] != t.addr+part {
			i++
		}
		i++
	}
	for i+2 < len(w) && (w[i] != t.addr+t.funcs || w[i+1] != t.nfunc+1 || w[i+2] != t.nfunc+1) {
		i++
	}

	// Last come minpc, maxpc, text and etext.
	first := t.at(t.ftab)
	entry := first.Uint(t.fieldSize())
	for i += 3; i+3 < len(w); i++ {
		minpc, maxpc, text, etext := w[i], w[i+1], w[i+2], w[i+3]
		if text != 0 && minpc == text+entry && minpc <= maxpc && maxpc <= etext {
			return i + 2
		}
	}
	return -1
}

// textSects reads textsectmap, if w begins with that slice: two sections and
// more, the first of which begins the text. One section needs no map.
func (t *Table) textSects(w []uint64, text uint64) []textSect {
	if len(w) < 3 || w[1] != w[2] || w[1] < 2 || w[1] > 1<<16 {
		return nil
	}

	// The sections must ascend from the start of the text.
	data := t.read(w[0], w[1]*uint64(3*t.ptrSize))
	c := wire.New("textsectmap", data, t.big)
	var sects []textSect
	var end uint64
	for c.Len() > 0 {
		s := textSect{c.Uint(t.ptrSize), c.Uint(t.ptrSize), c.Uint(t.ptrSize)}
		if c.Err() != nil || s.start < end || s.end < s.start || len(sects) == 0 && (s.start != 0 || s.addr != text) {
			return nil
		}
		end = s.end
		sects = append(sects, s)
	}
	return sects
}

// textAddr returns the address of an offset in the text, as textAddr of
// runtime/symtab.go does. The end of the last section belongs to it.
func (t *Table) textAddr(off uint64) uint64 {
	for i, s := range t.module.sects {
		if off >= s.start && (off < s.end || off == s.end && i == len(t.module.sects)-1) {
			return s.addr + off - s.start
		}
	}
	return t.module.text + off
}
