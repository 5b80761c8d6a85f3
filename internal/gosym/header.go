package gosym

import (
	"cmp"

	"symkit/internal/wire"
	"symkit/located"
)

// Open reads the header and compares its offsets and counts with the length of the data
// once, so that a walk over the functions need not check them again. The header differs
// from version to version; the fields that all versions have are kept as offsets in data.

// Table is one opened pclntab. It aliases the bytes it was opened on and is
// never written to after Open, so goroutines may share it.
type Table struct {
	section string
	data    []byte
	big     bool
	addr    uint64
	version Version
	quantum uint32 // of a pc delta: the bytes of the shortest instruction
	ptrSize int
	exec    []Range

	nfunc uint64
	// Offsets in data. Up to Go 1.15 all but files are 0: everything counts
	// from the start of the table.
	names, cus, files, pcs, funcs uint64
	ftab                          uint64 // of the first pair (entry, record)
	nfiles                        uint64 // entries of files, Go 1.2 to 1.15

	module module
	trees  bool // some function refers to an inline tree
	read   func(addr, n uint64) []byte
}

// Version returns the layout of the table.
func (t *Table) Version() Version { return t.version }

// Len returns the number of functions, with damaged ones. Each has a pair of entries in the table.
func (t *Table) Len() int { return int(t.nfunc) }

// HasInlines reports whether Inlines can give inlined calls: the table is of Go
// 1.16 or later and, since Go 1.18, its module data has the address that inline trees count from.
func (t *Table) HasInlines() bool {
	if t.version >= Go118 {
		return t.module.found && (t.module.gofunc != 0 || !t.trees)
	}
	return t.version == Go116 && t.read != nil
}

var magics = [...]struct {
	magic   uint32
	version Version
}{
	{0xfffffff1, Go120},
	{0xfffffff0, Go118},
	{0xfffffffa, Go116},
	{0xfffffffb, Go12},
}

// Open reads the header of a pclntab, which data begins with, and finds the module
// data that belongs to it. Errors call data section; addr is the address of its first
// byte. Errors are *located.Error at the field that is wrong.
func Open(section string, data []byte, addr uint64, im Image) (*Table, error) {
	t := &Table{section: section, data: data, addr: addr, exec: im.Exec, read: im.Read}
	if err := t.header(); err != nil {
		return nil, err
	}
	if t.version < Go118 {
		return t, nil
	}

	t.module = t.findModule(im)
	if t.module.found {
		t.findGoFunc()
		return t, nil
	}

	// Without module data, offsets count from the header's start of the text.
	t.module.text = cmp.Or(t.textStart(), im.Text)
	if t.module.text == 0 {
		return nil, t.fail(uint64(8+2*t.ptrSize), ErrText)
	}
	return t, nil
}

// at returns a cursor at offset off; if that is outside of the table, the cursor has
// failed at its end.
func (t *Table) at(off uint64) wire.Cursor {
	c := wire.New(t.section, t.data, t.big)
	if off > uint64(len(t.data)) {
		c.Fail(len(t.data), located.ErrOffset)
	}
	c.Seek(off)
	return c
}

// fail returns an error at offset off of the table.
func (t *Table) fail(off uint64, err error) error {
	return &located.Error{Section: t.section, Offset: int(min(off, uint64(len(t.data)))), Err: err}
}

// header reads pcHeader of runtime/symtab.go, or its predecessors.
func (t *Table) header() error {
	if err := t.identify(); err != nil {
		return err
	}
	c := t.at(6)
	t.quantum = uint32(c.U8())
	t.ptrSize = int(c.U8())
	if err := c.Err(); err != nil {
		return err
	}
	switch {
	case t.data[4] != 0 || t.data[5] != 0:
		return t.fail(4, ErrHeader)
	case t.quantum != 1 && t.quantum != 2 && t.quantum != 4:
		return t.fail(6, ErrHeader)
	case t.ptrSize != 4 && t.ptrSize != 8:
		return t.fail(7, ErrHeader)
	}

	// Go 1.2: the functions follow; their file table comes after them.
	t.nfunc = c.Uint(t.ptrSize)
	if t.version == Go12 {
		t.ftab = uint64(c.Pos())
		if err := t.countFuncs(&c); err != nil {
			return err
		}
		return t.fileTable12()
	}

	// Since Go 1.16 the header has the offsets of all parts.
	c.Uint(t.ptrSize) // number of files: the cu table has its own
	if t.version >= Go118 {
		c.Uint(t.ptrSize) // textStart
	}
	for _, field := range [...]*uint64{&t.names, &t.cus, &t.files, &t.pcs, &t.funcs} {
		at := c.Pos()
		*field = c.Uint(t.ptrSize)
		if *field > uint64(len(t.data)) {
			return t.fail(uint64(at), located.ErrOffset)
		}
	}
	t.ftab = t.funcs
	return t.countFuncs(&c)
}

// identify finds version and byte order. No magic number is another one in the other
// byte order.
func (t *Table) identify() error {
	for _, big := range [...]bool{false, true} {
		c := wire.New(t.section, t.data, big)
		magic := c.U32()
		if err := c.Err(); err != nil {
			return err
		}
		for _, m := range magics {
			if m.magic == magic {
				t.version, t.big = m.version, big
				return nil
			}
		}
	}
	return t.fail(0, ErrMagic)
}

// fieldSize returns the size of a number of the function table: an address up to Go
// 1.17, an offset from the start of the text since.
func (t *Table) fieldSize() int {
	if t.version >= Go118 {
		return 4
	}
	return t.ptrSize
}

// countFuncs compares the number of functions with the bytes there are: a pair
// for each, and the end of the last.
func (t *Table) countFuncs(c *wire.Cursor) error {
	if err := c.Err(); err != nil {
		return err
	}
	left := uint64(len(t.data)) - t.ftab // ftab was compared
	size := uint64(t.fieldSize())
	if t.nfunc == 0 || t.nfunc > left/(2*size) || left < (2*t.nfunc+1)*size {
		return t.fail(8, ErrCount)
	}
	return nil
}

// fileTable12 finds the file table of Go 1.2 to 1.15: its offset follows the
// functions, and it begins with its own length.
func (t *Table) fileTable12() error {
	c := t.at(t.ftab + (2*t.nfunc+1)*uint64(t.ptrSize))
	t.files = uint64(c.U32())

	c.Seek(t.files)
	at := c.Pos()
	t.nfiles = uint64(c.U32())
	if err := c.Err(); err != nil {
		return err
	}
	if t.nfiles > uint64(len(t.data)-at)/4 {
		return t.fail(uint64(at), ErrCount)
	}
	return nil
}

// textStart returns the start of the text from the header of Go 1.18 and later: 0 if
// a newer release wrote the table, or if relocations were not applied.
func (t *Table) textStart() uint64 {
	c := t.at(uint64(8 + 2*t.ptrSize))
	return c.Uint(t.ptrSize)
}
