package sframes

import (
	"cmp"
	"debug/elf"
	"slices"
	"sort"

	"symkit/elfx"
	"symkit/internal/printable"
)

// names are the functions of the symbol tables of an image.
type names struct {
	table *elfx.SymbolTable
	funcs []int // indices of symbols, by address
	files int   // symbols of source files
}

// newNames reads .symtab, or .dynsym if there is none. A table that cannot be read has no names.
func newNames(img *elfx.Image) *names {
	n := &names{}
	for _, f := range []*elfx.File{img.Main, img.Debug} {
		if f != nil && n.table == nil {
			n.table, _ = f.Symtab()
		}
	}
	if n.table == nil {
		n.table, _ = img.Main.Dynsym()
	}
	if n.table == nil {
		return n
	}

	for i := range n.table.Symbols {
		switch s := &n.table.Symbols[i]; {
		case s.Type == elf.STT_FILE:
			n.files++
		case s.Type == elf.STT_FUNC && s.Shndx != elfx.ShnUndef:
			n.funcs = append(n.funcs, i)
		}
	}
	slices.SortStableFunc(n.funcs, func(a, b int) int {
		return cmp.Compare(n.table.Symbols[a].Value, n.table.Symbols[b].Value)
	})
	return n
}

// index returns the index in n.funcs of the first function at or after an address.
func (n *names) index(addr uint64) int {
	return sort.Search(len(n.funcs), func(i int) bool { return n.table.Symbols[n.funcs[i]].Value >= addr })
}

// begins reports whether a function begins at an address.
func (n *names) begins(addr uint64) bool {
	i := n.index(addr)
	return i < len(n.funcs) && n.table.Symbols[n.funcs[i]].Value == addr
}

// at returns the name of the function that begins at an address, "" if none does.
func (n *names) at(addr uint64) string {
	if !n.begins(addr) {
		return ""
	}
	return printable.String(string(n.table.NameOf(&n.table.Symbols[n.funcs[n.index(addr)]])))
}
