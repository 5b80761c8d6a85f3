package cfi

import (
	"fmt"
	"iter"
	"sync"

	"symkit/internal/wire"
	"symkit/located"
)

// FDE describes how to unwind from the PCs in [Begin, End). It refers to the
// section's bytes.
type FDE struct {
	// Offset is the section offset of the FDE's length field.
	Offset uint64
	CIE    *CIE
	// Begin and End are addresses as in the file: virtual addresses, in an ET_REL file as
	// relocated.
	Begin, End uint64
	// RawBegin is the initial location as stored in the section, before its base was
	// applied. A value of 0 or of all ones (in the address size) marks the FDE of a
	// discarded function in some files; the caller decides whether it does in this file.
	RawBegin uint64
	// LSDA is the function's language-specific data.
	LSDA Pointer

	sec        *Section
	from, upto int // the instructions, as section offsets
}

// fde reads the FDE with the common fields e.
func (d *decoder) fde(e *entry) (FDE, error) {
	s := d.sec
	f := FDE{Offset: e.off, sec: s}

	// An FDE cannot be read without its CIE, which has the encoding of the addresses.
	off, ok := s.cieOffset(e)
	if !ok {
		return FDE{}, &located.Error{Section: s.name(), Offset: int(e.idPos), Err: errCIEPointer}
	}

	cie, err := d.cie(off)
	if err != nil {
		err = fmt.Errorf("reading CIE at %#x: %w", off, err)
		return FDE{}, &located.Error{Section: s.name(), Offset: int(e.idPos), Err: err}
	}

	f.CIE = cie
	f.read(&e.body)
	if err := e.body.Err(); err != nil {
		return FDE{}, err
	}
	return f, nil
}

// read reads the fields after the CIE pointer.
func (f *FDE) read(b *wire.Cursor) {
	s, cie := f.sec, f.CIE
	b.Skip(uint64(cie.SegmentSize))

	// The PC range comes first: an address in the CIE's encoding, and a size.
	at := b.Pos()
	f.RawBegin, f.Begin = s.address(b, cie.FDEEncoding, cie.AddrSize, 0)
	size := number(b, cie.FDEEncoding, cie.AddrSize, true)
	f.End = f.Begin + size
	// The end may be the end of the address space only if a uint64 can hold it.
	if b.Err() == nil && (f.End < f.Begin || cie.AddrSize < 8 && f.End > 1<<(8*cie.AddrSize)) {
		b.Fail(at, errRange)
	}

	// The only augmentation data of an FDE is the LSDA pointer; its size may be 0.
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

// Rows yields the rows of f in the order of their addresses, without gaps from Begin to
// End. Consecutive instructions that do not advance the location make one row. A damaged
// FDE yields the rows before the damage and then one *located.Error: the PCs after the last
// row are not described. An FDE without PCs has no rows.
//
// The row belongs to the iterator and is valid until the next row, but not after the
// loop. The caller may change its Begin and End only; a copy that outlives the row needs
// its own Regs.
func (f *FDE) Rows() iter.Seq2[*Row, error] {
	return func(yield func(*Row, error) bool) {
		m := getMachine()
		defer putMachine(m)
		m.rows(f, yield)
	}
}

var machines = sync.Pool{New: func() any { return new(machine) }}

func getMachine() *machine { return machines.Get().(*machine) }

// putMachine returns m to the pool, without the references that would keep a section
// alive.
func putMachine(m *machine) {
	m.sec, m.cie, m.c, m.row.Exprs = nil, nil, wire.Cursor{}, nil
	machines.Put(m)
}
