package elfx

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"

	"symkit/internal/wire"
)

var (
	// ErrNotELF: the file does not begin with the ELF magic number.
	ErrNotELF = errors.New("not an ELF file")
	// ErrIdent: e_ident has an unknown class, byte order or version.
	ErrIdent = errors.New("unknown ELF class, byte order or version")
	// ErrEntrySize: the entry size of a table is not that of the file's class.
	ErrEntrySize = errors.New("wrong entry size")
)

// tables are the fields of the ELF header that locate the other headers.
type tables struct {
	shoff, phoff         uint64
	shnum, phnum         uint64
	shentsize, phentsize uint16
	shstrndx             uint32
}

const headerName = "ELF header"

// parse reads everything that Open reads.
func (f *File) parse() error {
	if f.paid == 0 {
		f.paid = uint64(len(f.data))
	}
	t, err := f.readHeader()
	if err != nil {
		return err
	}
	if err := f.readTables(t); err != nil {
		return err
	}

	// The next steps depend on the tables, in this order.
	f.holdsLoaded = f.findLoaded()
	if f.namesLost() {
		f.synthesize()
	}
	f.buildID = f.findBuildID()
	f.prepareRelocation()
	return nil
}

// readHeader reads the ELF header (gABI, "ELF Header").
func (f *File) readHeader() (t tables, err error) {
	if !bytes.HasPrefix(f.data, []byte(elf.ELFMAG)) {
		return t, &wire.Error{Section: headerName, Err: notELF(f.data)}
	}

	// e_ident is the same in both classes and byte orders, and decides how the other
	// fields are read.
	c := wire.New(headerName, f.data, false)
	c.Skip(4)
	class, order, version, abi := c.U8(), c.U8(), c.U8(), c.U8()
	switch f.Class = elf.Class(class); {
	case c.Err() != nil:
	case f.Class != elf.ELFCLASS32 && f.Class != elf.ELFCLASS64:
		c.Fail(elf.EI_CLASS, ErrIdent)
	case order != uint8(elf.ELFDATA2LSB) && order != uint8(elf.ELFDATA2MSB):
		c.Fail(elf.EI_DATA, ErrIdent)
	case version != uint8(elf.EV_CURRENT):
		c.Fail(elf.EI_VERSION, ErrIdent)
	}
	if c.Err() != nil {
		return t, c.Err()
	}
	f.OSABI = elf.OSABI(abi)
	f.BigEndian = order == uint8(elf.ELFDATA2MSB)
	return f.readHeaderFields()
}

// readHeaderFields reads the fields after e_ident.
func (f *File) readHeaderFields() (t tables, err error) {
	c := f.cursor(headerName, f.data)
	c.Skip(elf.EI_NIDENT)
	f.Type = elf.Type(c.U16())
	f.Machine = elf.Machine(c.U16())
	c.Skip(4) // e_version repeats EI_VERSION

	word := f.AddrSize()
	f.Entry = c.Uint(word)
	t.phoff = c.Uint(word)
	t.shoff = c.Uint(word)
	f.Flags = c.U32()

	c.Skip(2) // e_ehsize
	t.phentsize = c.U16()
	t.phnum = uint64(c.U16())
	t.shentsize = c.U16()
	t.shnum = uint64(c.U16())
	t.shstrndx = uint32(c.U16())
	return t, c.Err()
}

// notELF returns ErrNotELF with the kind of the file and the program that reads it, if
// Kind knows the format.
func notELF(data []byte) error {
	if kind := Kind(data); kind != "" {
		return fmt.Errorf("%w: it is %s", ErrNotELF, kind)
	}
	return ErrNotELF
}
