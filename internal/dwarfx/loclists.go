package dwarfx

import (
	"fmt"

	"symkit/internal/wire"
	"symkit/located"
)

// locations returns the location lists of the file of u.
func (u *Unit) locations() (*Locations, error) {
	read := u.data.Locations
	if read == nil {
		return &Locations{}, nil
	}
	all, err := read()
	return &all, err
}

// listOffset returns the offset or the index of a location list; ok is false for other values.
func (u *Unit) listOffset(v value) (off uint64, ok bool) {
	switch v.form {
	case formSecOffset, formLoclistx:
		return v.v, true
	case formData4, formData8:
		return v.v, u.Version < 4
	}
	return 0, false
}

// expression returns the bytes of an expression or of a block, nil of other values.
func (u *Unit) expression(v value) []byte {
	switch v.form {
	case formExprloc, formBlock, formBlock1, formBlock2, formBlock4:
		c := u.data.unitCursor(u, v.v)
		return c.Bytes(blockLen(&c, v.form))
	}
	return nil
}

// Operations (DWARF 5 §7.7.1).
const (
	opDeref    = 0x06
	opReg0     = 0x50
	opReg31    = 0x6f
	opBreg0    = 0x70
	opFbreg    = 0x91
	noRegister = 0xff
)

// frameAddress returns the offset that an expression adds to the frame base, or to the register that is the frame base.
// Fortran's arrays have the address of their address.
func frameAddress(code []byte, register uint8) (offset int64, ok bool) {
	if len(code) == 0 || code[0] != opFbreg && (register == noRegister || code[0] != opBreg0+register) {
		return 0, false
	}
	c := wire.New("", code, false)
	c.U8()
	offset = c.SLEB()
	if c.Len() == 1 && c.Err() == nil {
		return offset, c.U8() == opDeref
	}
	return offset, c.Len() == 0 && c.Err() == nil
}

// first returns the frameAddress of the first expression in a location list of u that has one. list is the offset or the
// index of the list; *left is how many entries may still be read.
func (l *Locations) first(u *Unit, isIndex bool, list uint64, register uint8, left *int) (offset int64, ok bool, err error) {
	d := u.data
	entry := (*locReader).entryV5
	r := locReader{u: u, Cursor: d.cursor(".debug_loclists", l.LocLists)}
	switch {
	case u.Version < 5 && u.dwoID != 0: // in a .dwo file, since a skeleton has no variables
		r.Cursor, entry = d.cursor(".debug_loc", l.Loc), (*locReader).entryGNU
	case u.Version < 5:
		r.Cursor, entry = d.cursor(".debug_loc", l.Loc), (*locReader).entryV4
	}
	if isIndex {
		base, err := u.locListsBase()
		if err != nil {
			return 0, false, err
		}
		n, known := d.indexed(l.LocLists, base, list, u.offsetSize())
		if !known {
			r.Fail(int(min(base, uint64(len(l.LocLists)))), fmt.Errorf("location list %d: %w", list, located.ErrOffset))
		}
		list = base + n
	}
	for r.Seek(list); ; *left-- {
		if *left <= 0 {
			r.Fail(r.Pos(), ErrTooMany)
		}
		code, more := entry(&r)
		if !more || r.Err() != nil {
			return offset, ok && r.Err() == nil, r.Err()
		}
		if !ok {
			offset, ok = frameAddress(code, register)
		}
	}
}

// locListsBase returns where the offsets of the location lists of u begin.
func (u *Unit) locListsBase() (uint64, error) {
	c := u.data.unitCursor(u, u.first)
	specs, err := u.data.findSpecs(u, c.ULEB())
	if err != nil {
		return 0, err
	}
	var root slots
	err = u.data.readAttrs(u, &c, specs, &root)
	return u.defaultBase(&root, slotLocListsBase, 12), err
}

// locReader reads a location list. The addresses do not matter: a variable that is in the frame somewhere is in it.
type locReader struct {
	wire.Cursor
	u *Unit
}

// entryV4 reads an entry of .debug_loc (DWARF 4 §2.6.2). more is false at the end. An entry for a base has no code.
func (r *locReader) entryV4() (code []byte, more bool) {
	size := int(r.u.AddrSize)
	lo, hi := r.Uint(size), r.Uint(size)
	switch {
	case lo == 0 && hi == 0:
		return nil, false
	case lo == ^uint64(0)>>(64-8*r.u.AddrSize):
		return nil, true
	}
	return r.Bytes(uint64(r.U16())), true
}

// entryGNU reads an entry of .debug_loc.dwo, which has kinds as DWARF 5 has them, and lengths of four bytes.
func (r *locReader) entryGNU() (code []byte, more bool) {
	at := r.Pos()
	switch kind := r.U8(); kind {
	case lleEnd:
		return nil, false
	case lleBaseAddressx:
		r.SkipLEB()
		return nil, true
	case lleStartxEndx:
		r.SkipLEB()
		r.SkipLEB()
	case lleStartxLength:
		r.SkipLEB()
		r.U32()
	case lleOffsetPair:
		r.U64()
	default:
		r.Fail(at, fmt.Errorf("%w %d", ErrLocKind, kind))
	}
	return r.Bytes(uint64(r.U16())), true
}

// Kinds of location list entries (DWARF 5 §7.7.3).
const (
	lleEnd             = 0
	lleBaseAddressx    = 1
	lleStartxEndx      = 2
	lleStartxLength    = 3
	lleOffsetPair      = 4
	lleDefaultLocation = 5
	lleBaseAddress     = 6
	lleStartEnd        = 7
	lleStartLength     = 8
	// GNU's pair of views, of a draft of DWARF 5.
	lleGNUViewPair = 9
)

// entryV5 reads an entry of .debug_loclists (DWARF 5 §2.6.2).
func (r *locReader) entryV5() (code []byte, more bool) {
	at, size := r.Pos(), int(r.u.AddrSize)
	switch kind := r.U8(); kind {
	case lleEnd:
		return nil, false
	case lleBaseAddressx:
		r.SkipLEB()
		return nil, true
	case lleBaseAddress:
		r.Uint(size)
		return nil, true
	case lleGNUViewPair:
		r.SkipLEB()
		r.SkipLEB()
		return nil, true
	case lleStartxEndx, lleStartxLength, lleOffsetPair:
		r.SkipLEB()
		r.SkipLEB()
	case lleDefaultLocation:
	case lleStartEnd:
		r.Uint(size)
		r.Uint(size)
	case lleStartLength:
		r.Uint(size)
		r.SkipLEB()
	default:
		r.Fail(at, fmt.Errorf("%w %d", ErrLocKind, kind))
	}
	return r.Bytes(r.ULEB()), true
}
