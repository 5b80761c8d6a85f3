package elfx

import (
	"bytes"
	"debug/elf"
	"errors"

	"symkit/internal/wire"
	"symkit/located"
)

var (
	errIdent     = errors.New("unknown ELF class, byte order or version")
	errEntrySize = errors.New("wrong entry size") // not that of the file's class
)

// Header has the fields of the ELF header that concern the whole file (gABI, "ELF
// Header").
type Header struct {
	Class     elf.Class
	BigEndian bool
	OSABI     elf.OSABI
	Type      elf.Type
	Machine   elf.Machine
	Entry     uint64 // virtual address
	Flags     uint32 // e_flags, meaning depends on Machine
}

// AddrSize returns the size of an address in bytes: 4 or 8.
func (h *Header) AddrSize() int { return int(h.byClass(4, 8)) }

// byClass returns the value for the file's class.
func (h *Header) byClass(class32, class64 uint64) uint64 {
	if h.Class == elf.ELFCLASS64 {
		return class64
	}
	return class32
}

// cursor returns a cursor over data in the file's byte order.
func (h *Header) cursor(section string, data []byte) wire.Cursor {
	return wire.New(section, data, h.BigEndian)
}

// at aliases n bytes of data from offset off. The offset of an error is the number of
// bytes from off on.
func at(data []byte, section string, off, n uint64) ([]byte, error) {
	size := uint64(len(data))

	// Both checks avoid sums, which could overflow.
	if off > size {
		return nil, &located.Error{Section: section, Err: located.ErrTruncated}
	}
	if n > size-off {
		return nil, &located.Error{Section: section, Offset: int(size - off), Err: located.ErrTruncated}
	}
	return data[off:][:n:n], nil
}

// tables are the fields of the ELF header that locate the other headers.
type tables struct {
	shoff, phoff         uint64
	shnum, phnum         uint64
	shentsize, phentsize uint16
	shstrndx             uint32
	names                []uint32 // of sections: offsets in section shstrndx
}

const headerName = "ELF header"

// readHeader reads the ELF header (gABI, "ELF Header").
func readHeader(data []byte) (h Header, t tables, err error) {
	if !bytes.HasPrefix(data, []byte(elf.ELFMAG)) {
		return h, t, &located.Error{Section: headerName, Err: notELF(data)}
	}

	// e_ident is the same in both classes and byte orders, and decides how the other
	// fields are read.
	c := wire.New(headerName, data, false)
	c.Skip(4)
	class, order, version, abi := c.U8(), c.U8(), c.U8(), c.U8()
	switch h.Class = elf.Class(class); {
	case c.Err() != nil:
	case h.Class != elf.ELFCLASS32 && h.Class != elf.ELFCLASS64:
		c.Fail(elf.EI_CLASS, errIdent)
	case order != uint8(elf.ELFDATA2LSB) && order != uint8(elf.ELFDATA2MSB):
		c.Fail(elf.EI_DATA, errIdent)
	case version != uint8(elf.EV_CURRENT):
		c.Fail(elf.EI_VERSION, errIdent)
	}
	if c.Err() != nil {
		return h, t, c.Err()
	}
	h.OSABI = elf.OSABI(abi)
	h.BigEndian = order == uint8(elf.ELFDATA2MSB)
	t, err = h.readFields(data)
	return h, t, err
}

// readFields reads the fields after e_ident.
func (h *Header) readFields(data []byte) (t tables, err error) {
	c := h.cursor(headerName, data)
	c.Skip(elf.EI_NIDENT)
	h.Type = elf.Type(c.U16())
	h.Machine = elf.Machine(c.U16())
	c.Skip(4) // e_version repeats EI_VERSION

	word := h.AddrSize()
	h.Entry = c.Uint(word)
	t.phoff = c.Uint(word)
	t.shoff = c.Uint(word)
	h.Flags = c.U32()

	c.Skip(2) // e_ehsize
	t.phentsize = c.U16()
	t.phnum = uint64(c.U16())
	t.shentsize = c.U16()
	t.shnum = uint64(c.U16())
	t.shstrndx = uint32(c.U16())
	return t, c.Err()
}

// Offsets from e_ehsize, the first field after those whose size depends on the
// class.
const (
	fieldPhentsize = 2
	fieldPhnum     = 4
	fieldShentsize = 6
	fieldShstrndx  = 10
)

// headerField returns err at a field of the ELF header.
func (h *Header) headerField(field int, err error) error {
	ehsize := int(h.byClass(40, 52))
	return &located.Error{Section: headerName, Offset: ehsize + field, Err: err}
}

// notELF returns ErrNotELF, or a KindError if the format of the file is known.
func notELF(data []byte) error {
	kind := KindOf(data)
	if kind == (Kind{}) {
		return ErrNotELF
	}
	return &KindError{kind}
}
