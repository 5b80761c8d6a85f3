// Package frames reads the DWARF unwind tables of an image.
package frames

import (
	"iter"

	"symkit/cfi"
	"symkit/elfx"
	"symkit/internal/wire"
)

// FDEs yields the FDEs of one section of img. A damaged FDE yields its error; a section that
// cannot be read yields one error.
func FDEs(img *elfx.Image, kind cfi.SectionKind) iter.Seq2[cfi.FDE, error] {
	return func(yield func(cfi.FDE, error) bool) {
		sec := img.Section(kind.String())
		if sec == nil {
			return
		}
		data, err := sec.Data()
		if err != nil {
			yield(cfi.FDE{}, err)
			return
		}

		// Addresses in the section may be relative to .text or .got.
		f := sec.File()
		section := &cfi.Section{
			Kind: kind, Data: data, Addr: sec.Addr, AddrSize: f.AddrSize(), BigEndian: f.BigEndian, Machine: f.Machine,
			Deref: func(addr uint64) (uint64, bool) { return deref(img.Main, addr) },
		}
		if text := img.Main.Section(".text"); text != nil {
			section.TextBase = text.Addr
		}
		if got := img.Main.Section(".got"); got != nil {
			section.DataBase = got.Addr
		}
		section.FDEs()(yield)
	}
}

// deref reads a word of the loaded file.
func deref(f *elfx.File, addr uint64) (uint64, bool) {
	b := f.BytesAt(addr, uint64(f.AddrSize()))
	if b == nil {
		return 0, false
	}
	c := wire.New("", b, f.BigEndian)
	return c.Uint(f.AddrSize()), true
}
