package cfi

import (
	"debug/elf"
	"fmt"
	"iter"

	"symkit/internal/wire"
	"symkit/located"
)

const (
	exidxName = ".ARM.exidx"
	extabName = ".ARM.extab"
	// exidxCantUnwind stands in place of unwinding instructions (EHABI32 §6).
	exidxCantUnwind = 1
	// exidxInline as the first byte marks compact model 0.
	exidxInline = 0x80
)

// Exidx is the exception index table of a 32-bit ARM file: .ARM.exidx with the
// .ARM.extab that it points into (Exception Handling ABI for the Arm
// Architecture, EHABI32 §5–9).
//
// The table has one row per function. The row is right at the function's calls, which are
// after the prologue and before the epilogue, and wrong inside prologue and epilogue.
// Therefore DWARF CFI has priority if a file has both. The row covers the whole function,
// as in other users of the table.
type Exidx struct {
	// Index and IndexAddr are .ARM.exidx and its virtual address.
	Index     []byte
	IndexAddr uint64
	// Table and TableAddr are .ARM.extab and its virtual address; Table is empty if the
	// file has no .ARM.extab.
	Table     []byte
	TableAddr uint64
	// End bounds the end of the last function: the table has only the functions' start
	// addresses.
	End       uint64
	BigEndian bool
}

// exidxEntry is one entry of the table.
type exidxEntry struct {
	// Offset is the offset of the entry in Index.
	Offset uint64
	// Begin and End are the addresses of the function, or of several functions that are
	// unwound alike. The Thumb bit is cleared.
	Begin, End uint64
	// CantUnwind means that a stack walk ends in the function (EXIDX_CANTUNWIND).
	CantUnwind bool
	// Personality is the address of the personality routine of the generic
	// model, 0 in the compact model.
	Personality uint64

	code wire.Cursor // the words with unwinding instructions
	skip int         // bytes of the first word that are no instructions
	word uint32      // the only word, if it is in the index
}

// entries yields the entries in the order of the table. A damaged entry gives a
// *located.Error instead. The entry before a damaged one is dropped if its end is not known.
func (x *Exidx) entries() iter.Seq2[exidxEntry, error] {
	return func(yield func(exidxEntry, error) bool) {
		c := wire.New(exidxName, x.Index, x.BigEndian)
		var last uint64
		for c.Len() > 0 {
			e, err := x.entry(&c)

			// Addresses must not descend: a linker sorts the table.
			if err == nil && e.Begin < last {
				err = &located.Error{Section: exidxName, Offset: int(e.Offset), Err: errExidxOrder}
			}
			// The start of a damaged entry also ends the function before.
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

// next returns the end of the function at begin: the start of the next entry's function,
// or End for the last entry. If the next entry is damaged, the result may be at or below
// begin, and the next entry gives an error.
func (x *Exidx) next(c wire.Cursor, begin uint64) uint64 {
	if c.Len() == 0 {
		return x.End
	}

	at := c.Pos()
	word := c.U32()

	// Bit 31 of a valid first word is clear.
	if c.Err() != nil || word>>31 != 0 {
		return begin
	}
	return x.function(at, word)
}

// function returns the address in the first word of an entry; at is the word's offset.
func (x *Exidx) function(at int, word uint32) uint64 {
	return prel31(x.IndexAddr+uint64(at), word) &^ 1
}

// prel31 returns the address that the word at address place points to: the low 31 bits of
// the word are a signed offset from place (AAELF32, R_ARM_PREL31).
func prel31(place uint64, word uint32) uint64 {
	return uint64(uint32(place) + uint32(int32(word<<1)>>1))
}

// entry reads one entry of the index (EHABI32 §6).
func (x *Exidx) entry(c *wire.Cursor) (e exidxEntry, err error) {
	at := c.Pos()
	e.Offset = uint64(at)
	first, second := c.U32(), c.U32()
	switch {
	case c.Err() != nil:
		return e, c.Err()
	case first>>31 != 0:
		return e, &located.Error{Section: exidxName, Offset: at, Err: errExidxEntry}
	}

	// The second word is a mark, the instructions themselves, or a pointer to .ARM.extab.
	e.Begin = x.function(at, first)
	switch {
	case second == exidxCantUnwind:
		e.CantUnwind = true
	case second>>24 == exidxInline: // compact model 0
		e.word, e.skip = second, 1
	case second>>31 != 0:
		return e, &located.Error{Section: exidxName, Offset: at + 4, Err: errExidxEntry}
	default:
		off := prel31(x.IndexAddr+uint64(at)+4, second) - x.TableAddr
		if off >= uint64(len(x.Table)) {
			return e, &located.Error{Section: exidxName, Offset: at + 4, Err: errExtab}
		}
		err = x.handler(off, &e)
	}
	return e, err
}

// handler finds the unwinding instructions in an exception handling table entry (EHABI32
// §7). In the generic model, the personality routine defines the format of the words
// after its address. GNU as and LLVM emit the generic model for C, C++, Objective-C, Rust
// and Ada, always with the instructions of compact model 1 first: a byte with the number
// of further words, three instructions, and those words.
func (x *Exidx) handler(off uint64, e *exidxEntry) error {
	c := wire.New(extabName, x.Table, x.BigEndian)
	c.Seek(off)

	// The first word decides the model and with it the number of words.
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
		return &located.Error{Section: extabName, Offset: int(off), Err: fmt.Errorf("%w: %#x", errPersonality, model)}
	}

	e.code = c.Sub(4 * words)
	return e.code.Err()
}

// Rows yields a row for each entry, in the order of the table. A damaged entry gives a
// *located.Error and no row. A row is valid until the next one.
//
// The CFA is the caller's stack pointer. The return address is in column 14; the column
// is undefined if the stack walk ends. Registers have their DWARF numbers (AADWARF32); D0
// to D15 are pairs of single-precision registers, as in GCC's tables. The table does not
// mark the frames of signal handlers.
func (x *Exidx) Rows() iter.Seq2[*Row, error] {
	return func(yield func(*Row, error) bool) {
		m := new(exidxMachine)
		for e, err := range x.entries() {
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

// ExidxMachine reports whether files of a machine and class have the table.
func ExidxMachine(m elf.Machine, class elf.Class) bool {
	return m == elf.EM_ARM && class == elf.ELFCLASS32
}

// run runs the instructions of e and sets m.row to the result.
func (m *exidxMachine) run(x *Exidx, e *exidxEntry) error {
	m.vsp, m.loaded, m.saved, m.failed = slot{base: armSP}, false, 0, nil

	// The first bytes of the first word can be the model and the number of words.
	m.words, m.section, m.word, m.left = e.code, extabName, 0, -e.skip
	if e.code.End() == 0 { // in the index
		m.words = wire.New(exidxName, nil, x.BigEndian)
		m.section, m.word, m.left, m.at = exidxName, e.word<<8, 3, int(e.Offset)+4
	}

	// Run the instructions up to finish (0xb0) or to the end of the last word.
	refused := e.CantUnwind
	for !refused && m.more() && m.failed == nil {
		op := m.byte()
		if op == 0xb0 { // finish
			break
		}
		refused = m.step(op)
	}
	if m.failed != nil {
		return m.failed
	}

	// A function that refuses to unwind has no caller: its return address is undefined.
	row := &m.row
	*row = Row{Begin: e.Begin, End: e.End}
	if refused {
		row.CFA = Rule{Kind: KindReg, Reg: armSP}
		m.rules[0] = RegRule{armLR, Rule{Kind: KindUndefined}}
		row.Regs = m.rules[:1]
		return nil
	}

	// The virtual stack pointer is now the caller's stack pointer, which is the CFA.
	row.CFA = Rule{Kind: KindReg, Reg: m.vsp.base, Off: m.vsp.off}
	if m.loaded {
		row.CFA.Kind = KindMemReg
	}

	row.Regs = m.registers()
	return nil
}
