package gotable

import (
	"fmt"

	"symkit/internal/wire"
)

// Magic numbers of the tables that have inline trees as they are read here.
const (
	goMagic116 = 0xfffffffa
	goMagic118 = 0xfffffff0
	goMagic120 = 0xfffffff1
)

// Header is the header of .gopclntab (runtime.pcHeader).
type Header struct {
	magic   uint32
	quantum uint64 // of instructions: addresses are multiples of it
	word    int
	nfunc   uint64
	Text    uint64 // runtime.text, which Go 1.18 to 1.25 fill in; 0 from other releases and in programs without a fixed address

	names, cus, files, pcs, funcs uint64 // offsets of the parts

	truncated bool
}

// ReadHeader reads the header of a table. It fails for a table without the bytes for its functions,
// since debug/gosym allocates memory for as many functions as the header claims. An entry has at
// least eight bytes.
func ReadHeader(data []byte, bigEndian bool) (h Header, err error) {
	c := wire.New(".gopclntab", data, bigEndian)
	h.magic = c.U32()
	c.Skip(2)
	h.quantum = uint64(max(c.U8(), 1))

	at := c.Pos()
	h.word = int(c.U8())
	if h.word != 4 && h.word != 8 {
		c.Fail(at, fmt.Errorf("pointers of %d bytes", h.word))
		return h, c.Err()
	}

	// The number of functions.
	at = c.Pos()
	h.nfunc = c.Uint(h.word)
	if h.nfunc > uint64(len(data))/8 {
		c.Fail(at, fmt.Errorf("%d functions in %d bytes", h.nfunc, len(data)))
	}
	err = c.Err()

	c.Skip(uint64(h.word)) // number of files
	if h.magic == goMagic118 || h.magic == goMagic120 {
		h.Text = c.Uint(h.word)
	}
	for _, part := range []*uint64{&h.names, &h.cus, &h.files, &h.pcs, &h.funcs} {
		*part = c.Uint(h.word)
	}
	h.truncated = c.Err() != nil
	return h, err
}
