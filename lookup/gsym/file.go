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

	// The tables. Their sizes are those that the header states.
	addrs, infos, files []byte
	strings             wire.Cursor
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
	if c.U16() != version {
		c.Fail(4, errVersion)
	}
	f.width = int(c.U8())
	uuid := uint64(c.U8())
	f.base = c.U64()
	count := uint64(c.U32())
	at, size := uint64(c.U32()), uint64(c.U32())
	if uuid > maxUUID {
		c.Fail(7, errUUID)
	}
	f.UUID = c.Bytes(uuid)
	c.Skip(maxUUID - uuid)

	switch f.width {
	case 1, 2, 4, 8:
	default:
		c.Fail(6, wire.ErrSize)
	}
	f.addrs = c.Bytes(count * uint64(f.width))
	c.Skip(uint64(-c.Pos() & 3))
	f.infos = c.Bytes(4 * count)
	f.files = c.Bytes(fileSize * uint64(c.U32()))
	c.Seek(at)
	f.strings = c.Sub(size)
	if c.Err() != nil {
		return nil, c.Err()
	}
	return f, nil
}

// Symbols yields the functions by address. A damaged function is an error, and others follow it.
func (f *File) Symbols() iter.Seq2[Symbol, error] {
	return func(yield func(Symbol, error) bool) {
		for i := range f.count() {
			c := f.info(i)
			s := f.symbol(i, &c)
			if !yield(s, c.Err()) {
				return
			}
		}
	}
}

// count returns the number of functions.
func (f *File) count() int { return len(f.infos) / 4 }

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
	c.Seek(uint64(f.u32(f.infos[4*i:])))
	return c
}

// symbol reads the start of the info of function i.
func (f *File) symbol(i int, c *wire.Cursor) Symbol {
	s := Symbol{Addr: f.addr(i), Size: uint64(c.U32())}
	at := c.Pos()
	s.Name = f.text(c, at, c.U32())
	return s
}

// contains reports whether an address that is not below s, and below the next function, is in s.
func (s *Symbol) contains(addr uint64) bool { return s.Size == 0 || addr-s.Addr < s.Size }

// text returns the string at an offset of the string table. The offset is at a place of c, which fails if there is no
// string.
func (f *File) text(c *wire.Cursor, at int, off uint32) []byte {
	rest := f.strings.Rest()
	if c.Err() != nil {
		return nil
	}
	if uint64(off) >= uint64(len(rest)) {
		c.Fail(at, errString)
		return nil
	}
	rest = rest[off:]
	end := bytes.IndexByte(rest, 0)
	if end < 0 {
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
	if number >= uint64(len(f.files)/fileSize) {
		c.Fail(at, errFile)
		return nil, nil
	}
	entry := f.files[number*fileSize:]
	return f.text(c, at, f.u32(entry)), f.text(c, at, f.u32(entry[4:]))
}
