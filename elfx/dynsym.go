package elfx

import (
	"debug/elf"

	"symkit/internal/wire"
	"symkit/located"
)

// Symtab reads .symtab on every call. The table is nil if the file has none.
func (f *File) Symtab() (*SymbolTable, error) {
	return symbols(f, ".symtab")
}

// Dynsym reads .dynsym on every call, or, in a file without section headers, the
// table that DT_SYMTAB points to. The table is nil if the file has none.
func (f *File) Dynsym() (*SymbolTable, error) {
	return symbols(f, ".dynsym")
}

// symbols reads the named table.
func symbols(f *File, name string) (*SymbolTable, error) {
	return guarded(f, func() (*SymbolTable, error) {
		// Without section headers, only the dynamic section locates .dynsym.
		s := f.Section(name)
		switch {
		case s == nil && name == ".dynsym" && f.namesLost():
			return dynamicSymbols(f)
		case present(s) == nil:
			return nil, nil
		}
		return readSymtab(f, s)
	})
}

// dynamicSymbols reads the symbols at the address in DT_SYMTAB. Only the hash table
// gives their number.
func dynamicSymbols(f *File) (*SymbolTable, error) {
	d, err := readDynamic(f)
	if err != nil || d.symtab == 0 {
		return nil, err
	}
	n, err := countDynamic(f, &d)
	if err != nil || n == 0 {
		return nil, err
	}

	// The table has no size of its own: it must be in the segment's bytes.
	rest := f.bytesFrom(d.symtab)
	if n > uint64(len(rest))/f.symbolSize() {
		return nil, &located.Error{Section: "DT_SYMTAB", Offset: len(rest), Err: located.ErrTruncated}
	}
	c := f.cursor("DT_SYMTAB", rest[:n*f.symbolSize()])
	symbols, err := decodeSymbols(f, c, wire.Cursor{})
	return &SymbolTable{symbols, d.strings}, err
}

// countDynamic returns the number of dynamic symbols, or 0 if there is no hash table.
func countDynamic(f *File, d *dynamic) (uint64, error) {
	// DT_HASH counts directly; the GNU hash table has to be searched.
	switch {
	case d.hash != 0:
		return countHash(f, d.hash)
	case d.mipsSymbols != 0:
		return d.mipsSymbols, nil
	case d.gnuHash != 0:
		return countGNUHash(f, d.gnuHash)
	}
	return 0, nil
}

// countHash reads nchain, the number of symbols (gABI, "Hash Table"), of the table
// at virtual address addr. The words have 8 bytes on 64-bit s390 and on Alpha,
// against the gABI.
func countHash(f *File, addr uint64) (uint64, error) {
	word := 4
	if f.Machine == elf.EM_S390 && f.Class == elf.ELFCLASS64 || f.Machine == elf.EM_ALPHA {
		word = 8
	}
	c := f.cursor("DT_HASH", f.bytesFrom(addr))
	c.Uint(word)
	n := c.Uint(word)
	return n, c.Err()
}

// countGNUHash returns the number of symbols up to the last one in the GNU hash table
// at virtual address addr: the end of the chain with the largest first symbol.
// Symbols before symoffset are not in the table.
func countGNUHash(f *File, addr uint64) (uint64, error) {
	c := f.cursor("DT_GNU_HASH", f.bytesFrom(addr))
	buckets, symoffset, bloom := c.U32(), c.U32(), c.U32()
	c.Skip(4 + uint64(bloom)*uint64(f.AddrSize())) // bloom_shift, bloom filter

	// The chain that begins last also ends last.
	table := c.Sub(uint64(buckets) * 4)
	var last uint32
	for table.Len() > 0 {
		last = max(last, table.U32())
	}
	if c.Err() != nil || last < symoffset {
		return uint64(symoffset), c.Err()
	}

	// The lowest bit of a chain's word marks the end of the chain.
	c.Skip(uint64(last-symoffset) * 4)
	n := uint64(last)
	for c.Err() == nil {
		n++
		if c.U32()&1 != 0 {
			return n, c.Err()
		}
	}
	return 0, c.Err()
}
