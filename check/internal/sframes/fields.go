package sframes

import (
	"cmp"
	"debug/elf"
	"fmt"
	"slices"
	"sort"

	"symkit/elfx"
	"symkit/internal/printable"
)

// noneRelocation states that the start field of an FDE has a relocation without effect.
const noneRelocation = "R_NONE"

// relocationTypes are the types of sections with relocations; the numbers are those of compact
// relocations (CREL).
var relocationTypes = []elf.SectionType{elf.SHT_RELA, elf.SHT_REL, 0x40000014, 20}

// startFields are the relocations of the start fields of a relocatable object.
type startFields struct {
	tables []fieldTable // as the tables of the verifier; nil in a linked file
}

// fieldTable has the relocations of one section, by offset.
type fieldTable struct {
	addr   uint64
	all    []elfx.Reloc
	table  *elfx.SymbolTable
	unread bool
}

// startFields reads the relocations of the .sframe sections.
func (v *verifier) startFields() *startFields {
	fields := &startFields{}
	if v.main.Type != elf.ET_REL {
		return fields
	}
	symbols, _ := v.main.Symtab() // a table that cannot be read has no symbols
	for i := range v.tables {
		section := v.tables[i].section
		t := fieldTable{addr: section.Addr, table: symbols}
		for k := range v.main.Sections {
			s := &v.main.Sections[k]
			if uint64(s.Info) != uint64(section.Index) || !slices.Contains(relocationTypes, s.Type) {
				continue
			}
			all, err := s.Relocs()
			t.unread = t.unread || err != nil
			t.all = append(t.all, all...)
		}
		slices.SortFunc(t.all, func(a, b elfx.Reloc) int { return cmp.Compare(a.Offset, b.Offset) })
		fields.tables = append(fields.tables, t)
	}
	return fields
}

// of returns why the start field of a function has no meaning, "" if it has one. ok is false in a file
// that is linked.
func (x *startFields) of(f *function) (why string, ok bool) {
	if x.tables == nil {
		return "", false
	}
	t := &x.tables[f.table]
	at := f.at - t.addr
	i := sort.Search(len(t.all), func(i int) bool { return t.all[i].Offset >= at })
	switch {
	case t.unread:
		return "", true
	case i == len(t.all) || t.all[i].Offset != at:
		return "the start address has no relocation", true
	case t.all[i].Type == 0:
		return noneRelocation, true
	}

	// A symbol of another object gives no address here.
	sym := t.all[i].Sym
	if t.table == nil || uint64(sym) >= uint64(len(t.table.Symbols)) {
		return "", true
	}
	if s := &t.table.Symbols[sym]; sym == 0 || s.Shndx == elfx.ShnUndef {
		name := printable.String(string(t.table.NameOf(s)))
		return fmt.Sprintf("the start address is relocated by the undefined symbol %q", name), true
	}
	return "", true
}
