package cfi

import (
	"fmt"
	"iter"

	"symkit/internal/wire"
	"symkit/located"
)

// FDEs yields the FDEs in section order. A damaged FDE yields one *located.Error
// with the zero FDE, and then the next FDE follows. Only a damaged length of an entry
// ends the iteration, with an error. A CIE is read for its first FDE: a damaged CIE is
// an error of each of its FDEs, and a damaged CIE without FDEs is no error.
//
// A zero length, the terminator of .eh_frame, does not end the section: a linked file
// has a terminator in the middle if crtend.o, or the output of an `ld -r`, was not the
// linker's last input.
func (s *Section) FDEs() iter.Seq2[FDE, error] {
	return func(yield func(FDE, error) bool) {
		d := newDecoder(s)
		c := s.entries()
		for c.Len() > 0 {
			// An error of the section's cursor ends the loop; an error of the entry's
			// body skips the entry.
			e := s.entry(&c)
			switch {
			case c.Err() != nil:
			case e.body.Err() != nil:
				if !yield(FDE{}, e.body.Err()) {
					return
				}
			case e.kind == entryFDE:
				if !yield(d.fde(&e)) {
					return
				}
			}
		}
		if c.Err() != nil {
			yield(FDE{}, c.Err())
		}
	}
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

// PushesArguments reports whether the function notes the sizes of the arguments that it pushes
// (DW_CFA_GNU_args_size). Assemblers write no SFrame for most of these functions.
func (f *FDE) PushesArguments() bool {
	m := getMachine()
	defer putMachine(m)
	return m.find(f, opGNUArgsSize)
}
