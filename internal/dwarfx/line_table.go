package dwarfx

import (
	"errors"
	"slices"

	"symkit/internal/wire"
	"symkit/limits"
)

// LineRow is the source line of the code from Addr up to the next row. A row with
// File EndOfCode ends the code before it.
type LineRow struct {
	Addr uint64
	Line uint32
	File uint32 // index of the table's list of files
}

// EndOfCode is the File of the row after the last row of a sequence.
const EndOfCode = ^uint32(0)

// LineFile is an entry of a line table's list of files. Its name is relative to
// directory Dir of the table's list of directories.
type LineFile struct {
	Name []byte // aliases a section
	Dir  uint64
}

// lineHeader is the header of a line number program (DWARF 5 §6.2.4).
type lineHeader struct {
	version        uint16
	dwarf64        bool
	addrSize       uint8
	minInst        uint64
	maxOps         uint64
	lineBase       int64
	lineRange      uint64
	opcodeBase     uint8
	opcodeLengths  []byte // of the standard opcodes, from 1 on
	dirs           [][]byte
	files          []LineFile
	programAt, end int
}

// lineSteps has the effect of each opcode that only adds to the registers: the special
// ones (DWARF 5 §6.2.5.1), and standard ones.
type lineSteps struct {
	minInst, lineBase, lineRange uint8 // of the header that the table was made for
	base                         uint8
	ok                           bool          // the program is of the usual kind
	of                           [256]lineStep // by opcode
}

// lineStep has in the lowest 16 bits the number that an opcode adds to the register
// address, in the next 16 bits the signed number that it adds to line, then flags.
type lineStep uint64

const (
	stepRow     lineStep = 1 << (32 + iota) // the opcode emits a row
	stepOperand                             // the opcode has an operand, or is for the slow path
	stepSkip                                // ignore the operand, a LEB128
	stepFile
	stepPC
	stepLine
)

// LineTable is the line table of one unit. It is reused by the next ReadLines
// into it.
type LineTable struct {
	// Pay is called while a table is read, with the bytes of memory that its rows and files take
	// that were read since the last call. If it returns an error, the table ends with that error.
	// Pay may be nil.
	Pay func(bytes uint64) error

	// Full makes ReadLines fill Places, and keep rows that differ in their place alone. That takes longer.
	Full bool

	// Texts makes the table keep what Text returns.
	Texts bool

	// Rows ascend strictly, except that a row may follow an EndOfCode row of the same
	// address.
	Rows []LineRow
	// Places are those of Rows, if Full.
	Places     []Place
	owed       uint64 // bytes that were not paid for yet
	paid       int    // rows that were
	h          lineHeader
	texts      []LineText // by file
	text       LineText   // of the entry that is read
	seqs       []lineSeq
	flat       []LineRow // scratch of flatten
	flatPlaces []Place
	steps      lineSteps
}

// With returns a table that has the files of t and the given rows. It stays when t is used again.
func (t *LineTable) With(rows []LineRow) *LineTable {
	c := &LineTable{Rows: rows, h: t.h}
	c.h.dirs, c.h.files = slices.Clone(t.h.dirs), slices.Clone(t.h.files)
	return c
}

// LineText is what a line table says about the text of a file. Both alias a section.
type LineText struct {
	Source []byte // nil: the text is not embedded
	MD5    []byte // of the text, nil if it is not known
}

// Text returns the text of file number n of the table, if Texts was set.
func (t *LineTable) Text(n uint32) LineText {
	if uint64(n) >= uint64(len(t.texts)) {
		return LineText{}
	}
	return t.texts[n]
}

// lineSeq is code without a gap, [lo, hi), and its rows; the last one is an EndOfCode
// row.
type lineSeq struct {
	lo, hi uint64
	rows   Span
}

// Standard and extended opcodes (DWARF 5 §6.2.5.2, §6.2.5.3).
const (
	lnsCopy           = 1
	lnsAdvancePC      = 2
	lnsAdvanceLine    = 3
	lnsSetFile        = 4
	lnsSetColumn      = 5
	lnsNegateStmt     = 6
	lnsSetBasicBlock  = 7
	lnsConstAddPC     = 8
	lnsFixedAdvancePC = 9
	lnsSetPrologueEnd = 10
	lnsSetEpilogue    = 11
	lnsSetISA         = 12

	lneEndSequence      = 1
	lneSetAddress       = 2
	lneDefineFile       = 3
	lneSetDiscriminator = 4
)

// lineMachine is the state machine of DWARF 5 §6.2.2, with the registers that
// matter here.
type lineMachine struct {
	d *Data
	t *LineTable
	h *lineHeader
	c wire.Cursor

	addr, opIndex uint64
	file          uint64
	line          uint64
	// dead is true from a set_address to a tombstone until the next set_address
	// or the sequence's end. The operand of set_address decides, since addresses
	// advanced from it may lie in real code.
	dead bool
	// first is the index of the sequence's first row; at most one run of
	// ascending rows is open.
	first int
	// column and discriminator are those of the next row, if t.Full.
	column, discriminator uint64
}

// Bytes of memory that parts of a line table take while their slices grow.
const (
	rowMemory   = 32 // with the copy that flatten sorts
	placeMemory = 16
	seqMemory   = 48
	nameMemory  = 64 // a file or a directory
)

// pay counts bytes of memory, and the rows that are new. Small amounts are paid together, and when
// bytes is 0. c fails if they are too much.
func (t *LineTable) pay(c *wire.Cursor, bytes int) {
	row := rowMemory
	if t.Full {
		row += placeMemory
	}
	t.owed += uint64(bytes + row*max(len(t.Rows)-t.paid, 0))
	t.paid = max(t.paid, len(t.Rows))
	if bytes > 0 && t.owed < payEach || t.Pay == nil {
		return
	}
	if err := t.Pay(t.owed); err != nil {
		c.Fail(c.Pos(), err)
	}
	t.owed = 0
}

// released returns err. If it is that of a limit, the table is released, which has its rows before
// the error no longer.
func (t *LineTable) released(err error) error {
	if errors.Is(err, limits.ErrExceeded) {
		*t = LineTable{Pay: t.Pay, Full: t.Full, Texts: t.Texts}
	}
	return err
}
