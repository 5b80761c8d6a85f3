package sframe

import (
	"encoding/binary"
	"iter"

	"symkit/cfi"
	"symkit/internal/wire"
)

// maxWords is the most data words that an FRE can use.
const maxWords = 6

// FDE describes one function, or a run of equal blocks in a linker's PLT (SFrame V3
// §2.3). An FDE owns the storage that its iterators yield from: only one goroutine may
// use it, for one iteration at a time.
type FDE struct {
	// Index is the index in the chunk's table. Offset is the section offset of the entry,
	// which is also that of its start field.
	Index, Offset int
	// Start is the virtual address of the first byte of the function. Size is the number
	// of bytes, which can be 0. Start + Size fits in 64 bits.
	Start uint64
	Size  uint32
	// NumFREs is 0 for a signal frame whose rules SFrame cannot express.
	NumFREs uint32
	// RepSize is the size of a block if PCMask is set: 16 in version 1, which does not
	// store the size.
	RepSize uint8
	// PCMask means that the FREs describe a block that repeats through the function.
	PCMask bool
	// KeyB means that a mangled return address is signed with key B of pointer
	// authentication, not with key A (AArch64).
	KeyB bool
	// Signal marks the frame of a signal trampoline (version 3).
	Signal bool
	// Flex means that the FREs have pairs of register and offset (version 3).
	Flex bool

	chunk    *Chunk
	freAt    int    // offset of the first FRE in the section
	addrSize int    // of the FREs' start field
	span     uint64 // bytes that one pass over the FREs describes
	minWords uint8  // words of an FRE that have a meaning
	maxWords uint8
	canFast  bool // the fast path may read the FREs

	// The current row.
	at   int // the place of its FRE
	row  cfi.Row
	regs [3]cfi.RegRule
}

// End returns the address after the last byte of the function.
func (f *FDE) End() uint64 { return f.Start + uint64(f.Size) }

// cursorAt sets c to an offset among the FREs, with the end of the FREs as its end.
func (f *FDE) cursorAt(c *wire.Cursor, at int) {
	c.Reset(sectionName, f.chunk.in.data[:f.chunk.end], f.chunk.big)
	c.Seek(uint64(at))
}

// FRE is a frame row entry as stored in the section (SFrame V3 §2.4): the rules from one
// PC to the next FRE, or to the end of the function or block.
type FRE struct {
	// Offset is the section offset of the FRE.
	Offset int
	// Start is the first PC, relative to the start of the function, or of the block in a
	// repeating FDE.
	Start uint32
	// Info is the info byte.
	Info uint8
	// N is the number of data words.
	N uint8
	// Words are the data words, sign-extended.
	Words [maxWords]int32
}

// Bits of the FRE info byte (SFrame V3 §2.4.1).
const (
	freBaseSP  = 0x01
	freMangled = 0x80
)

// mangled reports whether the return address is signed at this FRE (AArch64 pointer
// authentication; the FDE has the key).
func (e *FRE) mangled() bool { return e.Info&freMangled != 0 }

// Outermost reports whether the return address is undefined: the stack ends here. Such an
// FRE has no data words (version 2 errata 2, version 3; damage in version 1).
func (e *FRE) Outermost() bool { return e.N == 0 }

// wordSize returns the size of the data words in bytes.
func (e *FRE) wordSize() int { return 1 << (e.Info >> 5 & 3) }

// head is the part of an FRE before its words.
type head struct {
	start uint32
	info  uint8
}

// FREs yields the function's FREs as stored. An FRE at the function's end, and an FRE
// followed by another of the same start, describe no PC. Damage ends the iteration with
// an error.
func (f *FDE) FREs() iter.Seq2[FRE, error] {
	return func(yield func(FRE, error) bool) {
		var c wire.Cursor
		f.cursorAt(&c, f.freAt)
		e := FRE{}
		for range f.NumFREs {
			e.Offset = c.Pos()
			h := f.readHead(&c, e.Start)
			e.Start, e.Info = h.start, h.info
			f.readWords(&c, &e)
			if c.Err() != nil {
				yield(FRE{}, c.Err())
				return
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}

// readHead reads the head of the FRE at the cursor. The start must be at least prev and
// at most the end of the function: assemblers write an FRE at the end for CFI after the
// last instruction.
func (f *FDE) readHead(c *wire.Cursor, prev uint32) head {
	at, start := c.Pos(), uint32(0)

	// The size of the start field is the FDE's: 1, 2 or 4 bytes.
	b := c.Bytes(uint64(f.addrSize) + 1)
	switch {
	case b == nil:
		return head{}
	case len(b) == 2:
		start = uint32(b[0])
	case len(b) == 3:
		start = uint32(half(b, c.BigEndian()))
	default:
		start = word(b, c.BigEndian())
	}

	// FREs ascend, and none starts after the end of the function or block.
	if start < prev {
		c.Fail(at, errOrder)
	} else if uint64(start) > f.span {
		c.Fail(at, errStart)
	}
	return head{start, b[len(b)-1]}
}

// readWords reads the data words that the info byte announces; the info byte is the last
// byte read.
func (f *FDE) readWords(c *wire.Cursor, e *FRE) {
	at := c.Pos() - 1

	// The info byte has the number of words and the logarithm of their size.
	size := e.Info >> 5 & 3
	e.N = e.Info >> 1 & 15
	if size == 3 {
		c.Fail(at, errWordSize)
	}
	if e.N > f.maxWords || e.N < f.minWords {
		c.Fail(at, errWords)
	}

	b := c.Bytes(uint64(e.N) << size)
	if c.Err() != nil {
		return
	}

	e.Words = [maxWords]int32{}
	if size == 0 { // nearly always
		for i, v := range b {
			e.Words[i%maxWords] = int32(int8(v))
		}
	} else {
		e.decode(b, c.BigEndian())
	}

	// Some words have a form of their own, which can be invalid.
	switch {
	case f.Flex:
		f.checkFlex(c, e, at)
	case f.chunk.regWords:
		e.checkRegWords(c, at)
	}
}

// decode sets the words from b, sign-extended.
func (e *FRE) decode(b []byte, big bool) {
	w := e.Words[:e.N]
	switch e.Info >> 5 & 3 {
	case 1:
		for i := range w {
			w[i] = int32(int16(half(b[2*i:], big)))
		}
	default:
		for i := range w {
			w[i] = int32(word(b[4*i:], big))
		}
	}
}

func half(b []byte, big bool) uint16 {
	if big {
		return binary.BigEndian.Uint16(b)
	}
	return binary.LittleEndian.Uint16(b)
}

func long(b []byte, big bool) uint64 {
	if big {
		return binary.BigEndian.Uint64(b)
	}
	return binary.LittleEndian.Uint64(b)
}

func word(b []byte, big bool) uint32 {
	if big {
		return binary.BigEndian.Uint32(b)
	}
	return binary.LittleEndian.Uint32(b)
}

// checkRegWords rejects words with a negative register number.
func (e *FRE) checkRegWords(c *wire.Cursor, info int) {
	// An odd word is twice a register number plus one.
	for i := 1; i < int(e.N); i++ {
		if w := e.Words[i]; w < 0 && w&1 != 0 {
			c.Fail(info+1+i*e.wordSize(), errRegister)
		}
	}
}
