package cfi

import (
	"debug/elf"
	"errors"
	"fmt"
	"iter"

	"symkit/internal/wire"
)

// What a *wire.Error of Exidx can carry besides.
var (
	// ErrExidxEntry: an entry of .ARM.exidx whose reserved bits are set.
	ErrExidxEntry = errors.New("reserved bits in an unwind table entry")
	// ErrExidxOrder: an entry for an address before that of the last one.
	ErrExidxOrder = errors.New("unwind table entry out of order")
	// ErrExtab: an entry that points outside .ARM.extab.
	ErrExtab = errors.New("entry leads outside .ARM.extab")
	// ErrPersonality: a compact model other than 0, 1 and 2.
	ErrPersonality = errors.New("unknown personality routine")
	// ErrUnwindOpcode: a spare or reserved unwinding instruction.
	ErrUnwindOpcode = errors.New("unknown unwinding instruction")
	// ErrUnwindState: unwinding instructions whose effect a row cannot say: what
	// follows a stack pointer loaded from the stack.
	ErrUnwindState = errors.New("unwinding instructions that no row can express")
)

const (
	exidxName = ".ARM.exidx"
	extabName = ".ARM.extab"
	// exidxCantUnwind stands in the place of unwinding instructions (EHABI32 §6).
	exidxCantUnwind = 1
	// exidxInline in the first byte marks the compact model.
	exidxInline = 0x80
)

// Exidx is the exception index table of a 32-bit ARM file: .ARM.exidx with the
// .ARM.extab that it points into (Exception Handling ABI for the Arm
// Architecture, EHABI32 §5–9).
//
// The table has one state per function, which holds where its calls are: after
// the prologue and before the epilogue. Inside those the row is wrong, so
// DWARF CFI comes first where there is both. The rows are what the state says
// of the whole function, as other users of the table take it.
type Exidx struct {
	// Index and IndexAddr are .ARM.exidx and its virtual address.
	Index     []byte
	IndexAddr uint64
	// Table and TableAddr are .ARM.extab; both empty when there is none.
	Table     []byte
	TableAddr uint64
	// End is where the code of the last function ends at the latest: the table
	// only has beginnings.
	End       uint64
	BigEndian bool
}

// ExidxEntry is one entry of the table.
type ExidxEntry struct {
	// Offset is the entry's in Index.
	Offset uint64
	// Begin and End are the addresses of the function, or of several that are
	// unwound alike. The Thumb bit is cleared.
	Begin, End uint64
	// CantUnwind: a walk ends here (EXIDX_CANTUNWIND).
	CantUnwind bool
	// Personality is the address of the personality routine of the generic
	// model, 0 in the compact model.
	Personality uint64

	code wire.Cursor // the words with unwinding instructions
	skip int         // bytes of the first word that are none
	word uint32      // the word itself, when it is in the index
}

// Entries yields the entries in the table's order. A damaged one gives a
// *wire.Error and is left out. So is the one before, if it is not known where
// that ends.
func (x *Exidx) Entries() iter.Seq2[ExidxEntry, error] {
	return func(yield func(ExidxEntry, error) bool) {
		c := wire.New(exidxName, x.Index, x.BigEndian)
		var last uint64
		for c.Len() > 0 {
			e, err := x.entry(&c)
			if err == nil && e.Begin < last {
				err = &wire.Error{Section: exidxName, Offset: int(e.Offset), Err: ErrExidxOrder}
			}
			// Also where a damaged entry begins, the one before has ended.
			last = max(last, e.Begin)
			if err == nil {
				e.End = x.next(c, last)
			}
			if err == nil && e.End <= e.Begin {
				continue
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// next is where the function at begin ends: where that of the next entry
// begins, or at End. It is not above begin where that makes no sense; the next
// entry then is an error of its own.
func (x *Exidx) next(c wire.Cursor, begin uint64) uint64 {
	if c.Len() == 0 {
		return x.End
	}

	at := c.Pos()
	word := c.U32()
	if c.Err() != nil || word>>31 != 0 {
		return begin
	}
	return x.function(at, word)
}

// function is the address that the first word of an entry gives.
func (x *Exidx) function(at int, word uint32) uint64 {
	return prel31(x.IndexAddr+uint64(at), word) &^ 1
}

// prel31 is the address that a word at a place points to: its low 31 bits are a
// signed offset from the place (AAELF32, R_ARM_PREL31).
func prel31(place uint64, word uint32) uint64 {
	return uint64(uint32(place) + uint32(int32(word<<1)>>1))
}

// entry reads one entry of the index (EHABI32 §6).
func (x *Exidx) entry(c *wire.Cursor) (e ExidxEntry, err error) {
	at := c.Pos()
	e.Offset = uint64(at)
	first, second := c.U32(), c.U32()
	switch {
	case c.Err() != nil:
		return e, c.Err()
	case first>>31 != 0:
		return e, &wire.Error{Section: exidxName, Offset: at, Err: ErrExidxEntry}
	}

	e.Begin = x.function(at, first)
	switch {
	case second == exidxCantUnwind:
		e.CantUnwind = true
	case second>>24 == exidxInline: // compact model 0
		e.word, e.skip = second, 1
	case second>>31 != 0:
		return e, &wire.Error{Section: exidxName, Offset: at + 4, Err: ErrExidxEntry}
	default:
		off := prel31(x.IndexAddr+uint64(at)+4, second) - x.TableAddr
		if off >= uint64(len(x.Table)) {
			return e, &wire.Error{Section: exidxName, Offset: at + 4, Err: ErrExtab}
		}
		err = x.handler(off, &e)
	}
	return e, err
}

// handler finds the unwinding instructions in an exception handling table entry
// (EHABI32 §7). In the generic model the personality routine decides what
// follows it; all that GNU as and LLVM write for (C, C++, Objective-C, Rust,
// Ada) begin it with the instructions as compact model 1 has them: a byte with
// the number of further words, three instructions, those words.
func (x *Exidx) handler(off uint64, e *ExidxEntry) error {
	c := wire.New(extabName, x.Table, x.BigEndian)
	c.Seek(off)
	peek := c
	word := peek.U32()
	words := uint64(1)
	switch model := word >> 24; {
	case word>>31 == 0:
		e.Personality = prel31(x.TableAddr+off, word) &^ 1
		c = peek
		words += uint64(peek.U32() >> 24)
		e.skip = 1
	case model == exidxInline:
		e.skip = 1
	case model == exidxInline+1 || model == exidxInline+2:
		words += uint64(word >> 16 & 0xff)
		e.skip = 2
	default:
		return &wire.Error{Section: extabName, Offset: int(off), Err: fmt.Errorf("%w: %#x", ErrPersonality, model)}
	}

	e.code = c.Sub(4 * words)
	return e.code.Err()
}

// Rows yields a row for each entry, in the table's order. A damaged entry gives
// a *wire.Error and no row. The row is only valid until the next one.
//
// The CFA is the stack pointer of the caller; the return address is in column
// 14, which is undefined where a walk ends. Registers are numbered as in DWARF
// (AADWARF32); D0 to D15 are pairs of single-precision ones, as GCC has them.
// That a frame is a signal's, the table does not tell.
func (x *Exidx) Rows() iter.Seq2[*Row, error] {
	return func(yield func(*Row, error) bool) {
		m := new(exidxMachine)
		for e, err := range x.Entries() {
			row := &m.row
			if err == nil {
				err = m.run(x, &e)
			}
			if err != nil {
				row = nil
			}
			if !yield(row, err) {
				return
			}
		}
	}
}

// ExidxMachine reports whether files of a machine have the table.
func ExidxMachine(m elf.Machine, class elf.Class) bool {
	return m == elf.EM_ARM && class == elf.ELFCLASS32
}
