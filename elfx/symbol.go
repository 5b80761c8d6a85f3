package elfx

import (
	"bytes"
	"debug/elf"
	"errors"

	"symkit/internal/bounds"
	"symkit/internal/limitof"
	"symkit/internal/wire"
	"symkit/located"
)

// errSymbolStrings: the string table of a symbol table is missing.
var errSymbolStrings = errors.New("symbol table without a string table")

// Special values of Symbol.Shndx. They differ from those of st_shndx (gABI,
// "Special Section Indexes"), which can be section indices: with extended numbering,
// section 0xfff1 may exist.
const (
	ShnUndef   = uint32(elf.SHN_UNDEF)
	ShnReserve = uint32(0xffffff00) // from here on: not a section index
	ShnAbs     = uint32(0xfffffff1)
)

// maxSymbolName is the length in bytes at which NameOf cuts a name. No consumer of
// symbol files reads as much.
const maxSymbolName = 64<<10 + 1

// Symbol is one entry of a symbol table (gABI, "Symbol Table"). A Symbol has no
// pointers, so that the garbage collector does not scan symbol tables.
type Symbol struct {
	// Value is a virtual address; for a TLS symbol, the offset in the TLS block;
	// for a common symbol, its alignment.
	Value uint64
	Size  uint64 // in bytes
	Name  uint32 // offset in the string table
	Shndx uint32 // section index, SHN_XINDEX resolved, or a Shn constant
	Type  elf.SymType
	Bind  elf.SymBind
	Other uint8 // visibility and processor-specific bits
}

// SymbolTable is a symbol table with its string table.
type SymbolTable struct {
	// Symbols is the whole table, with the null symbol at index 0.
	Symbols []Symbol
	strings []byte
}

// NameOf aliases a symbol's name in the mapped file, cut at maxSymbolName bytes. The
// name is nil if its offset is outside the string table.
func (t *SymbolTable) NameOf(s *Symbol) []byte {
	if uint64(s.Name) >= uint64(len(t.strings)) {
		return nil
	}

	// A name may have no NUL in a damaged file, or be very long.
	rest := t.strings[s.Name:]
	rest = rest[:min(len(rest), maxSymbolName)]
	if n := bytes.IndexByte(rest, 0); n >= 0 {
		rest = rest[:n]
	}
	return rest[:len(rest):len(rest)]
}

// readSymtab reads a symbol table with its string table and extended indices.
func readSymtab(f *File, s *Section) (*SymbolTable, error) {
	c, err := s.cursor()
	if err != nil {
		return nil, err
	}

	// The null symbol, which is all that u-boot's .dynsym has, needs no strings.
	var strings []byte
	t := f.linked(s)
	switch {
	case t != nil:
		strings, err = t.unpacked()
	case uint64(c.Len()) > f.symbolSize():
		err = &located.Error{Section: s.label(), Err: errSymbolStrings}
	}
	if err != nil {
		return nil, err
	}

	// The entry size is that of the class; any other size is damage.
	if s.Entsize != f.symbolSize() {
		return nil, &located.Error{Section: s.label(), Err: errEntrySize}
	}
	indices, err := extendedIndices(f, s)
	if err != nil {
		return nil, err
	}

	symbols, err := decodeSymbols(f, c, indices)
	rebase(f, symbols)
	return &SymbolTable{symbols, strings}, err
}

// rebase turns the values of a relocatable object's symbols, which are section
// offsets, into addresses. The value of a TLS symbol is an offset in linked files,
// too; that of a common symbol is its alignment.
func rebase(f *File, symbols []Symbol) {
	if f.Type != elf.ET_REL {
		return
	}
	for i := range symbols {
		if s := &symbols[i]; s.Type != elf.STT_TLS && uint64(s.Shndx) < uint64(len(f.Sections)) {
			s.Value += f.Sections[s.Shndx].Addr
		}
	}
}

// extendedIndices returns a cursor over the SHT_SYMTAB_SHNDX section of a symbol
// table; the cursor is empty if there is no such section.
func extendedIndices(f *File, symtab *Section) (wire.Cursor, error) {
	s := find(f.Sections, func(s *Section) bool {
		return s.Type == elf.SHT_SYMTAB_SHNDX && uint64(s.Link) == uint64(symtab.Index)
	})
	if s == nil {
		return wire.Cursor{}, nil
	}
	return s.cursor()
}

// symbolMemory is what a Symbol takes in memory.
const symbolMemory = 32

// decodeSymbols reads entries to the end of c. If extended is not empty, it has one
// index for each entry.
func decodeSymbols(f *File, c, extended wire.Cursor) ([]Symbol, error) {
	// The index of a section above the reserved numbers is in a table of its own.
	n := uint64(c.Len()) / f.symbolSize()
	err := bounds.NewRecords(f.opt.Limits, limitof.SymbolRecords, f.paid).Take(int(n), symbolMemory)
	if err != nil {
		c.Fail(c.Pos(), err)
		return nil, c.Err()
	}
	symbols := make([]Symbol, n)
	hasExtended := extended.Len() > 0
	for i := range symbols {
		f.readSymbol(&c, &symbols[i])
		if !hasExtended {
			continue
		}
		index := extended.U32()
		if symbols[i].Shndx == shnXIndex {
			symbols[i].Shndx = index
		}
	}

	// The table must be a whole number of entries.
	if c.Len() > 0 {
		c.Fail(c.Pos(), located.ErrTruncated)
	}
	if c.Err() != nil {
		return nil, c.Err()
	}
	return symbols, extended.Err()
}

// shnXIndex stands for st_shndx SHN_XINDEX until the index is resolved.
const shnXIndex = uint32(0xffffffff)

func (h *Header) symbolSize() uint64 { return h.byClass(16, 24) }

// readSymbol reads one entry. The order of the fields depends on the class.
func (h *Header) readSymbol(c *wire.Cursor, s *Symbol) {
	s.Name = c.U32()
	if h.Class == elf.ELFCLASS32 {
		s.Value = uint64(c.U32())
		s.Size = uint64(c.U32())
	}

	// Value and size come before these bytes in a 32-bit file, after them in a 64-bit
	// file.
	info := c.U8()
	s.Type, s.Bind = elf.ST_TYPE(info), elf.ST_BIND(info)
	s.Other = c.U8()
	s.Shndx = uint32(c.U16())
	if s.Shndx >= uint32(elf.SHN_LORESERVE) {
		s.Shndx |= 0xffff0000
	}
	if h.Class == elf.ELFCLASS64 {
		s.Value = c.U64()
		s.Size = c.U64()
	}
}
