package gsym

import (
	"bytes"
	"encoding/binary"
	"iter"
	"sort"

	"symkit/internal/wire"
)

// section is the name of the input in errors.
const section = "gsym"

// File is an opened file. It aliases the bytes that Open was given. Its methods may be called from any number of
// goroutines.
type File struct {
	UUID []byte // the build id

	data  []byte
	big   bool
	base  uint64
	width int // of an entry of addrs, in bytes
	ref   int // of a reference to a string and of an entry of infos, in bytes

	// The tables. Their sizes are those that the header states.
	addrs, infos, files []byte
	strings             wire.Cursor
	from                uint64 // where the positions of infos count from
}

// Symbol is a function of a file.
type Symbol struct {
	Addr uint64
	// Size is in bytes. A function of size 0 extends to the next one.
	Size uint64
	Name []byte // aliases the file
}

// Open opens a file in memory. It reads the header alone: a damaged function is an error where the function is used.
func Open(data []byte) (*File, error) {
	f := &File{data: data, big: len(data) > 0 && data[0] == magic>>24}
	c := wire.New(section, data, f.big)
	if c.U32() != magic {
		c.Fail(0, errMagic)
	}
	switch c.U16() {
	case 1:
		f.ref = 4
		f.header(&c)
	case 2:
		f.ref = 8
		f.header2(&c)
	default:
		c.Fail(4, errVersion)
	}
	if c.Err() != nil {
		return nil, c.Err()
	}
	return f, nil
}

// readWidth reads the size of an entry of addrs.
func (f *File) readWidth(c *wire.Cursor) {
	f.width = int(c.U8())
	switch f.width {
	case 1, 2, 4, 8:
	default:
		c.Fail(6, wire.ErrSize)
	}
}

// header reads what follows the version 1.
func (f *File) header(c *wire.Cursor) {
	f.readWidth(c)
	uuid := uint64(c.U8())
	f.base = c.U64()
	count := uint64(c.U32())
	at, size := uint64(c.U32()), uint64(c.U32())
	if uuid > maxUUID {
		c.Fail(7, errUUID)
	}
	f.UUID = c.Bytes(uuid)
	c.Skip(maxUUID - uuid)

	f.addrs = c.Bytes(count * uint64(f.width))
	c.Skip(uint64(-c.Pos() & 3))
	f.infos = c.Bytes(4 * count)
	f.files = f.fileTable(c)
	c.Seek(at)
	f.strings = c.Sub(size)
}

// header2 reads what follows the version 2.
func (f *File) header2(c *wire.Cursor) {
	f.readWidth(c)
	if c.U8() != 0 {
		c.Fail(7, errEncoding)
	}
	f.base = c.U64()
	count := uint64(c.U32())
	var parts [partKinds]wire.Cursor
	for i := range parts {
		parts[i] = wire.NewAt(section, nil, headerSize2, f.big) // a part that is missing
	}
	for kind := uint32(1); kind != endOfParts && c.Err() == nil; {
		kind = c.U32()
		part := *c // an error is at the offset that is read now
		at, size := c.U64(), c.U64()
		if kind != endOfParts && kind < partKinds {
			part.Seek(at)
			parts[kind] = part.Sub(size)
			c.Inherit(&part)
		}
	}

	f.addrs = parts[addrPart].Bytes(count * uint64(f.width))
	f.infos = parts[infoOffsetPart].Bytes(8 * count)
	f.files = f.fileTable(&parts[filePart])
	f.strings, f.from = parts[stringPart], uint64(parts[infoPart].Pos())
	f.UUID = parts[uuidPart].Rest()
	for i := range parts {
		c.Inherit(&parts[i])
	}
}

// fileTable reads the number of files, and returns their entries.
func (f *File) fileTable(c *wire.Cursor) []byte { return c.Bytes(2 * uint64(f.ref) * uint64(c.U32())) }

// Symbols yields the functions by address. A damaged function is an error, and others follow it.
func (f *File) Symbols() iter.Seq2[Symbol, error] {
	return func(yield func(Symbol, error) bool) {
		for i := range f.count() {
			if !yield(f.Symbol(i)) {
				return
			}
		}
	}
}

// Symbol returns the function with an index in Symbols.
func (f *File) Symbol(i int) (Symbol, error) {
	c := f.info(i)
	s := f.symbol(i, &c)
	return s, c.Err()
}

// count returns the number of functions.
func (f *File) count() int { return len(f.infos) / f.ref }

// addr returns the address of function i.
func (f *File) addr(i int) uint64 {
	b := f.addrs[i*f.width:]
	switch f.width {
	case 1:
		return f.base + uint64(b[0])
	case 2:
		return f.base + uint64(f.order().Uint16(b))
	case 4:
		return f.base + uint64(f.u32(b))
	}
	return f.base + f.order().Uint64(b)
}

// u32 returns the number that b begins with.
func (f *File) u32(b []byte) uint32 {
	if f.big {
		return binary.BigEndian.Uint32(b)
	}
	return binary.LittleEndian.Uint32(b)
}

// reference returns the position or the reference to a string that b begins with.
func (f *File) reference(b []byte) uint64 {
	if f.ref == 8 {
		return f.order().Uint64(b)
	}
	return uint64(f.u32(b))
}

func (f *File) order() binary.ByteOrder {
	if f.big {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// find returns the first of the functions with the highest address that is not above addr, or count if there is none.
func (f *File) find(addr uint64) int {
	n := f.count()
	after := sort.Search(n, func(i int) bool { return f.addr(i) > addr })
	if after == 0 {
		return n
	}
	at := f.addr(after - 1)
	if after == 1 || f.addr(after-2) < at {
		return after - 1
	}
	return sort.Search(after, func(i int) bool { return f.addr(i) >= at })
}

// info returns a cursor at the info of function i.
func (f *File) info(i int) wire.Cursor {
	c := wire.New(section, f.data, f.big)
	at := f.from + f.reference(f.infos[i*f.ref:])
	if at < f.from {
		at = ^uint64(0)
	}
	c.Seek(at)
	return c
}

// symbol reads the start of the info of function i.
func (f *File) symbol(i int, c *wire.Cursor) Symbol {
	s := Symbol{Addr: f.addr(i), Size: uint64(c.U32())}
	at := c.Pos()
	s.Name = f.text(c, at, c.Uint(f.ref))
	return s
}

// contains reports whether an address that is not below s, and below the next function, is in s.
func (s *Symbol) contains(addr uint64) bool { return s.Size == 0 || addr-s.Addr < s.Size }

// maxText is the length in bytes at which strings are cut.
const maxText = 1 << 16

// text returns the string at an offset of the string table. The offset is at a place of c, which fails if there is no
// string.
func (f *File) text(c *wire.Cursor, at int, off uint64) []byte {
	rest := f.strings.Rest()
	if c.Err() != nil {
		return nil
	}
	if off >= uint64(len(rest)) {
		c.Fail(at, errString)
		return nil
	}
	rest = rest[off:]
	end := bytes.IndexByte(rest[:min(len(rest), maxText)], 0)
	switch {
	case end < 0 && len(rest) > maxText:
		end = maxText
	case end < 0:
		c.Fail(at, wire.ErrUnterminated)
		return nil
	}
	return rest[:end:end]
}

// file returns the directory and the name of a file. The file's number is at a place of c, which fails if there is no
// file.
func (f *File) file(c *wire.Cursor, at int, number uint64) (dir, base []byte) {
	if c.Err() != nil {
		return nil, nil
	}
	size := 2 * f.ref
	if number >= uint64(len(f.files)/size) {
		c.Fail(at, errFile)
		return nil, nil
	}
	entry := f.files[number*uint64(size):]
	return f.text(c, at, f.reference(entry)), f.text(c, at, f.reference(entry[f.ref:]))
}
