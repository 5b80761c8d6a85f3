package elfx

import (
	"bytes"
	"debug/elf"
	"errors"

	"symkit/internal/wire"
)

// ErrSymbolStrings: a symbol table without its string table.
var ErrSymbolStrings = errors.New("symbol table without a string table")

// Special values of Symbol.Shndx. They are outside the range of section
// indices, unlike the values of st_shndx they stand for (gABI, "Special
// Section Indexes"): with extended numbering section 0xfff1 may exist.
const (
	ShnUndef   = uint32(elf.SHN_UNDEF)
	ShnReserve = uint32(0xffffff00) // this and above is no section
	ShnAbs     = uint32(0xfffffff1)
	ShnCommon  = uint32(0xfffffff2)
)

// MaxSymbolName is the length at which NameOf cuts a name. It is more than any
// consumer of symbol files reads.
const MaxSymbolName = 64<<10 + 1

// Symbol is one entry of a symbol table (gABI, "Symbol Table"). It has no
// pointers, so that a million of them cost the garbage collector nothing.
type Symbol struct {
	// Value is a virtual address; of a TLS symbol the offset in its block, of a
	// common symbol its alignment.
	Value uint64
	Size  uint64 // in bytes
	Name  uint32 // offset in the string table
	Shndx uint32 // section index, SHN_XINDEX resolved, or a Shn constant
	Type  elf.SymType
	Bind  elf.SymBind
	Other uint8 // visibility and processor-specific bits
}

// SymbolTable is a symbol table with its names.
type SymbolTable struct {
	// Symbols is the whole table, its null symbol at index 0 included.
	Symbols []Symbol
	strings []byte
}

// NameOf aliases a symbol's name, cut at MaxSymbolName bytes; nil when it is
// outside the string table. The string table is part of the mapped file.
func (t *SymbolTable) NameOf(s *Symbol) []byte {
	if uint64(s.Name) >= uint64(len(t.strings)) {
		return nil
	}
	rest := t.strings[s.Name:]
	rest = rest[:min(len(rest), MaxSymbolName)]
	if n := bytes.IndexByte(rest, 0); n >= 0 {
		rest = rest[:n]
	}
	return rest[:len(rest):len(rest)]
}

// Symtab reads .symtab. The table is nil when the file has none.
func (f *File) Symtab() (*SymbolTable, error) {
	return f.symbols(".symtab")
}

// Dynsym reads .dynsym, or, in a file without section headers, the table that
// the dynamic array points at. The table is nil when the file has none.
func (f *File) Dynsym() (*SymbolTable, error) {
	return f.symbols(".dynsym")
}

// symbols reads the named table on every call: the caller keeps it.
func (f *File) symbols(name string) (t *SymbolTable, err error) {
	err = f.do(func() error {
		s := f.Section(name)
		if s == nil && name == ".dynsym" && f.namesLost() {
			t, err = f.dynamicSymbols()
			return err
		}
		if s == nil || !s.Present() {
			return nil
		}
		t, err = f.readSymtab(s)
		return err
	})
	return t, err
}

func (f *File) readSymtab(s *Section) (*SymbolTable, error) {
	data, err := s.bytes()
	if err != nil {
		return nil, err
	}
	t := f.linked(s)
	if t == nil {
		return nil, &wire.Error{Section: s.label(), Err: ErrSymbolStrings}
	}
	strings, err := t.bytes()
	if err != nil {
		return nil, err
	}
	if s.Entsize != f.symbolSize() {
		return nil, &wire.Error{Section: s.label(), Err: ErrEntrySize}
	}
	indices, err := f.extendedIndices(s)
	if err != nil {
		return nil, err
	}
	c := f.cursor(s.label(), data)
	symbols, err := f.decodeSymbols(c, indices)
	f.rebase(symbols)
	return &SymbolTable{symbols, strings}, err
}

// extendedIndices finds the SHT_SYMTAB_SHNDX section of a symbol table; its
// cursor is empty when there is none.
func (f *File) extendedIndices(symtab *Section) (wire.Cursor, error) {
	for i := range f.Sections {
		s := &f.Sections[i]
		if s.Type == elf.SHT_SYMTAB_SHNDX && uint64(s.Link) == uint64(symtab.Index) {
			data, err := s.bytes()
			return f.cursor(s.label(), data), err
		}
	}
	return wire.Cursor{}, nil
}

// decodeSymbols reads entries to the end of c. The extended indices, if any,
// run parallel.
func (f *File) decodeSymbols(c, extended wire.Cursor) ([]Symbol, error) {
	n := uint64(c.Len()) / f.symbolSize()
	symbols := make([]Symbol, n)
	hasExtended := extended.Len() > 0
	for i := range symbols {
		f.readSymbol(&c, &symbols[i])
		if !hasExtended {
			continue
		}
		if index := extended.U32(); symbols[i].Shndx == shnXIndex {
			symbols[i].Shndx = index
		}
	}
	if c.Len() > 0 {
		c.Fail(c.Pos(), wire.ErrTruncated)
	}
	if c.Err() != nil {
		return nil, c.Err()
	}
	return symbols, extended.Err()
}

// shnXIndex is how st_shndx SHN_XINDEX looks before it is resolved.
const shnXIndex = uint32(0xffffffff)

func (f *File) symbolSize() uint64 {
	if f.Class == elf.ELFCLASS64 {
		return 24
	}
	return 16
}

// readSymbol reads one entry. The classes order the fields differently.
func (f *File) readSymbol(c *wire.Cursor, s *Symbol) {
	s.Name = c.U32()
	if f.Class == elf.ELFCLASS32 {
		s.Value = uint64(c.U32())
		s.Size = uint64(c.U32())
	}
	info := c.U8()
	s.Type, s.Bind = elf.ST_TYPE(info), elf.ST_BIND(info)
	s.Other = c.U8()
	s.Shndx = uint32(c.U16())
	if s.Shndx >= uint32(elf.SHN_LORESERVE) {
		s.Shndx |= 0xffff0000
	}
	if f.Class == elf.ELFCLASS64 {
		s.Value = c.U64()
		s.Size = c.U64()
	}
}
