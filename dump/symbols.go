package dump

import (
	"bytes"
	"cmp"
	"debug/elf"
	"slices"

	"symkit/elfx"
)

// symbol is a symbol of code.
type symbol struct {
	addr, end uint64 // end is addr where the symbol has no size
	rank      uint8  // of its kind and binding, the best is 0
	name      []byte // aliases the string table
}

// symbols are the code symbols by address; of aliases, the best first:
// functions before labels, then global before weak before local, then the
// shortest, then by name.
type symbols []symbol

// label is added to the rank of a symbol that is no function.
const label = 3

// at returns the symbols at addr.
func (s symbols) at(addr uint64) symbols {
	from, _ := slices.BinarySearchFunc(s, addr, func(s symbol, a uint64) int { return cmp.Compare(s.addr, a) })
	if from+1 < len(s) && s[from].addr == addr && s[from+1].addr != addr { // as it mostly is
		return s[from : from+1]
	}
	return s[from : from+leading(s[from:], func(s *symbol) bool { return s.addr == addr })]
}

// ranks returns what gives a name's place among the aliases, len(s) for one that is none.
func (s symbols) ranks() func(name []byte) int {
	const few = 16
	if len(s) <= few {
		return func(name []byte) int {
			if i := slices.IndexFunc(s, func(s symbol) bool { return bytes.Equal(s.name, name) }); i >= 0 {
				return i
			}
			return len(s)
		}
	}
	places := make(map[string]int, len(s))
	for i := range slices.Backward(s) { // the first holds
		places[string(s[i].name)] = i
	}
	return func(name []byte) int {
		if i, ok := places[string(name)]; ok {
			return i
		}
		return len(s)
	}
}

// readSymbols reads the symbol tables: .symtab; of a stripped file, .dynsym and
// what .gnu_debugdata has besides.
func (d *dumper) readSymbols() error {
	if d.isGo() {
		d.symLanguage = languageGo
	}
	table, err := d.img.Symbols()
	d.loss(err)
	d.addSymbols(table)
	if s := d.img.Section(".symtab"); s == nil {
		mini, err := d.img.Main.DebugData()
		d.loss(err)
		if mini != nil {
			table, err := mini.Symtab()
			d.loss(err)
			d.addSymbols(table)
		}
	}
	slices.SortFunc(d.syms, func(a, b symbol) int {
		if a.addr != b.addr {
			return cmp.Compare(a.addr, b.addr)
		}
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(len(a.name), len(b.name)), bytes.Compare(a.name, b.name))
	})
	d.syms = withoutInner(d.syms)
	return nil
}

// addSymbols adds the code symbols of a table, which may be nil.
func (d *dumper) addSymbols(table *elfx.SymbolTable) {
	if table == nil {
		return
	}
	thumb := d.img.Main.Machine == elf.EM_ARM
	opd := d.descriptors()
	d.syms = slices.Grow(d.syms, len(table.Symbols))
	for i := range table.Symbols {
		s := &table.Symbols[i]
		if s.Shndx == elfx.ShnUndef || s.Shndx == elfx.ShnAbs && s.Type != elf.STT_FUNC || d.unloaded(s) {
			continue
		}
		addr := opd.code(s.Value)
		switch s.Type {
		case elf.STT_FUNC, elf.STT_GNU_IFUNC:
			if thumb {
				addr &^= 1 // bit 0 says Thumb (AAELF32 §5.5.3)
			}
		case elf.STT_NOTYPE:
		default:
			continue
		}
		name := unversioned(table.NameOf(s))
		if len(name) == 0 || !d.code.Contains(addr) || s.Type == elf.STT_NOTYPE && !isLabel(name) {
			continue
		}
		rank := bindRank(s.Bind)
		if s.Type == elf.STT_NOTYPE {
			rank += label
		}
		d.syms = append(d.syms, symbol{addr, addr + s.Size, rank, name})
	}
}

// unloaded tells symbols of a relocatable object whose values are no addresses:
// those of sections that are not loaded, as RISC-V's of debug information.
func (d *dumper) unloaded(s *elfx.Symbol) bool {
	f := d.img.Main
	return f.Type == elf.ET_REL && uint64(s.Shndx) < uint64(len(f.Sections)) && f.Sections[s.Shndx].Flags&elf.SHF_ALLOC == 0
}

// withoutInner drops labels inside of functions: code behind one belongs to
// the function.
func withoutInner(syms symbols) symbols {
	end := uint64(0) // of the functions so far
	return slices.DeleteFunc(syms, func(s symbol) bool {
		if s.rank < label {
			end = max(end, s.end)
			return false
		}
		return s.addr < end
	})
}

// unversioned cuts the version from a name of .symtab: xdr_int@GLIBC_2.2.5.
func unversioned(name []byte) []byte {
	if i := bytes.IndexByte(name, '@'); i > 0 {
		return name[:i]
	}
	return name
}

func bindRank(b elf.SymBind) uint8 {
	switch b {
	case elf.STB_GLOBAL, 10: // 10: STB_GNU_UNIQUE
		return 0
	case elf.STB_WEAK:
		return 1
	}
	return 2
}

// isLabel tells a label of code that people know from what assemblers and
// linkers leave: mapping symbols ($a, $x.1) and local labels.
func isLabel(name []byte) bool {
	return name[0] != '$' && name[0] != '.' && !bytes.ContainsAny(name, "\x01\x02")
}
