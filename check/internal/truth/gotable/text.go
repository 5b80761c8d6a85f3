package gotable

import (
	"symkit/elfx"
	"symkit/internal/wire"
)

// goEntryPrefix begins the names of the functions that start Go programs:
// _rt0_amd64_linux and so on.
const goEntryPrefix = "_rt0_"

// moduleText finds the address of runtime.text in runtime.moduledata. The header of the table,
// which is data at addr, has not had this address since Go 1.26, nor in any program without a fixed
// address. A stripped program has no symbol for runtime.text, and .text begins with C's code where
// C's linker made the program.
//
// The struct begins with the address of the table. In it minpc, maxpc and text follow each other:
// text is right if the table's first function begins at minpc and its last function ends at maxpc.
// moduleText returns 0 if nothing fits.
func moduleText(f *elfx.File, h *Header, data []byte, addr uint64) uint64 {
	if h.truncated || h.magic != goMagic118 && h.magic != goMagic120 {
		return 0 // addresses do not count from runtime.text
	}

	// The table of functions has the first entry and, after the last pair, the end.
	c := wire.New(".gopclntab", data, f.BigEndian)
	c.Seek(h.funcs)
	first := uint64(c.U32())
	c.Seek(h.funcs + 8*h.nfunc)
	end := uint64(c.U32())
	if c.Err() != nil {
		return 0
	}

	mem := newGoWords(f)
	for _, at := range mem.find(f, addr, h.word) {
		var minpc, maxpc uint64
		for i := range uint64(moduleWords) {
			text, ok := mem.word(at+i*uint64(h.word), h.word)
			if !ok {
				break
			}
			if text != 0 && minpc == text+first && maxpc == text+end {
				return text
			}
			minpc, maxpc = maxpc, text
		}
	}
	return 0
}
