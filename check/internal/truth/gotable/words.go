package gotable

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"symkit/elfx"
	"symkit/internal/wire"
)

// goWords reads addresses in a program's memory as they are at run time, at load address 0. In
// position-independent programs relocations make these addresses.
type goWords struct {
	f      *elfx.File
	relocs []elfx.Reloc // the relocations without a symbol, by offset
}

// newGoWords reads the relocations of f. Without readable ones words are as they are in the file.
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

// within returns the relocations of [addr, addr+n).
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

// word returns the word of size bytes at addr. It returns false if the file has none.
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

// bytes returns the n bytes at addr, nil if the file does not have them.
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

// find returns the addresses in data sections that hold the address want.
func (m *goWords) find(f *elfx.File, want uint64, size int) (at []uint64) {
	for _, r := range m.relocs {
		if uint64(r.Addend) == want {
			at = append(at, r.Offset)
		}
	}

	// Other programs have the address in the bytes of the file.
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
			off += i
			if (s.Addr+uint64(off))%uint64(size) == 0 {
				at = append(at, s.Addr+uint64(off))
			}
		}
	}
	return at[:min(len(at), most)]
}
