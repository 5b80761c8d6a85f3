package cfi

import (
	"fmt"
	"iter"
	"sync"

	"symkit/internal/wire"
)

// FDE describes how to unwind from the PCs in [Begin, End). It refers to the
// section's bytes.
type FDE struct {
	// Offset is the section offset of its length field.
	Offset uint64
	CIE    *CIE
	// Begin and End are addresses as the file has them: virtual ones, in an
	// ET_REL file as relocated.
	Begin, End uint64
	// RawBegin is the initial location as it stands in the section, before its
	// base was applied: 0 or all ones (in the address size) mark the FDE of a
	// discarded function. Whether they do in this file, the caller decides.
	RawBegin uint64
	// LSDA is the function's language-specific data.
	LSDA Pointer

	sec        *Section
	from, upto int // the instructions, as section offsets
}

// fde reads the FDE whose frame is e.
func (d *decoder) fde(e *entry) (FDE, error) {
	s := d.sec
	f := FDE{Offset: e.off, sec: s}
	off, ok := s.cieOffset(e)
	if !ok {
		return FDE{}, &wire.Error{Section: s.name(), Offset: int(e.idPos), Err: ErrCIEPointer}
	}

	cie, err := d.cie(off)
	if err != nil {
		err = fmt.Errorf("reading CIE at %#x: %w", off, err)
		return FDE{}, &wire.Error{Section: s.name(), Offset: int(e.idPos), Err: err}
	}

	f.CIE = cie
	f.read(&e.body)
	if err := e.body.Err(); err != nil {
		return FDE{}, err
	}
	return f, nil
}

// read reads what follows the CIE pointer.
func (f *FDE) read(b *wire.Cursor) {
	s, cie := f.sec, f.CIE
	b.Skip(uint64(cie.SegmentSize))
	at := b.Pos()
	f.RawBegin, f.Begin = s.address(b, cie.FDEEncoding, cie.AddrSize, 0)
	size := number(b, cie.FDEEncoding, cie.AddrSize, true)
	f.End = f.Begin + size
	// The end may be the end of the address space only if a uint64 can hold it.
	if b.Err() == nil && (f.End < f.Begin || cie.AddrSize < 8 && f.End > 1<<(8*cie.AddrSize)) {
		b.Fail(at, ErrRange)
	}
	if cie.hasData {
		data := b.Sub(b.ULEB())
		if data.Len() > 0 || data.Err() != nil {
			f.LSDA = s.pointer(&data, cie.LSDAEncoding, cie.AddrSize, f.Begin)
		}
		if data.Err() != nil && b.Err() == nil {
			*b = data
		}
	}

	f.from, f.upto = b.Pos(), b.End()
}

// Rows yields f's rows in address order, without gaps from Begin to End;
// instructions that leave the location where it is make one row. A damaged FDE
// yields the rows before the damage, then one *wire.Error, then stops: the PCs
// after the last row are not described. An FDE without PCs has no rows.
//
// The row is the iterator's: it is valid until the next one, and not after the
// loop. Only its Begin and End may be changed; a copy that is to be kept needs
// Regs of its own.
func (f *FDE) Rows() iter.Seq2[*Row, error] {
	return func(yield func(*Row, error) bool) {
		m := getMachine()
		defer putMachine(m)
		m.rows(f, yield)
	}
}

var machines = sync.Pool{New: func() any { return new(machine) }}

func getMachine() *machine { return machines.Get().(*machine) }

// putMachine drops what would keep a section alive.
func putMachine(m *machine) {
	m.sec, m.cie, m.c, m.row.Exprs = nil, nil, wire.Cursor{}, nil
	machines.Put(m)
}
