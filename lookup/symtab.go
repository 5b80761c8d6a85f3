package lookup

import (
	"cmp"
	"debug/elf"
	"slices"
	"sort"

	"symkit/elfx"
)

// symbolTable has the symbols of functions and variables of a file, one at each address.
type symbolTable struct {
	list   []Symbol // by address
	byName []int32  // indexes of all, by name
	all    []Symbol // with aliases
}

// readSymbols reads the symbol tables of img: .symtab, .dynsym and MiniDebugInfo. It calls lose with damage.
func readSymbols(img *elfx.Image, lose func(...error)) *symbolTable {
	t := &symbolTable{}
	add := func(f *elfx.File, table *elfx.SymbolTable, err error) {
		lose(err)
		if table == nil {
			return
		}
		file := "" // of the local symbols that follow
		for i := range table.Symbols {
			s := &table.Symbols[i]
			if s.Type == elf.STT_FILE {
				file = string(table.NameOf(s))
			}
			t.add(f, table, s, file)
		}
	}
	if img.Debug != nil {
		symtab, err := img.Debug.Symtab()
		add(img.Debug, symtab, err)
	}
	symtab, err := img.Main.Symtab()
	add(img.Main, symtab, err)
	if len(t.all) == 0 {
		symtab, err = img.Main.Dynsym()
		add(img.Main, symtab, err)
		mini, err := elfx.DebugData(img.Main)
		lose(err)
		if mini != nil {
			symtab, err = mini.Symtab()
			add(mini, symtab, err)
		}
	}
	t.index()
	return t
}

// add adds a symbol of f, unless it names no code and no variable. A local symbol is of a source file.
func (t *symbolTable) add(f *elfx.File, table *elfx.SymbolTable, s *elfx.Symbol, file string) {
	data := s.Type == elf.STT_OBJECT
	switch s.Type {
	case elf.STT_FUNC, elf.STT_GNU_IFUNC, elf.STT_OBJECT, elf.STT_NOTYPE:
	default:
		return
	}
	name := table.NameOf(s)
	if s.Shndx == elfx.ShnUndef || s.Shndx >= elfx.ShnReserve || len(name) == 0 || name[0] == '$' && isMapping(f.Machine) {
		return
	}

	// A label is data where no code lies.
	if s.Type == elf.STT_NOTYPE && int(s.Shndx) < len(f.Sections) {
		data = f.Sections[s.Shndx].Flags&elf.SHF_EXECINSTR == 0
	}
	addr := s.Value
	if f.Machine == elf.EM_ARM && s.Type == elf.STT_FUNC {
		addr &^= 1 // the mode of the processor
	}
	if s.Bind != elf.STB_LOCAL {
		file = ""
	}
	t.all = append(t.all, Symbol{Name: string(name), File: file, Addr: addr, Size: s.Size, Data: data})
}

// isMapping reports whether names that begin with $ are marks of code and data on a machine, as those of
// ARM's ABIs are, and those of RISC-V's and C-SKY's.
func isMapping(m elf.Machine) bool {
	switch m {
	case elf.EM_ARM, elf.EM_AARCH64, elf.EM_RISCV, emCSKY:
		return true
	}
	return false
}

// emCSKY is C-SKY (gABI, "Machine Architecture").
const emCSKY = elf.Machine(252)

// index sorts the symbols. Of those at one address the last one with the largest size names it.
func (t *symbolTable) index() {
	slices.SortStableFunc(t.all, func(a, b Symbol) int { return cmp.Or(cmp.Compare(a.Addr, b.Addr), cmp.Compare(a.Size, b.Size)) })
	for i := range t.all {
		if i+1 == len(t.all) || t.all[i+1].Addr != t.all[i].Addr {
			t.list = append(t.list, t.all[i])
		}
	}
	t.byName = make([]int32, len(t.all))
	for i := range t.byName {
		t.byName[i] = int32(i)
	}
	slices.SortStableFunc(t.byName, func(a, b int32) int { return cmp.Compare(t.all[a].Name, t.all[b].Name) })
}

// at returns the symbol that covers addr, or the last one below if its size is not known.
func (t *symbolTable) at(addr uint64) (Symbol, bool) {
	i := sort.Search(len(t.list), func(i int) bool { return t.list[i].Addr > addr }) - 1
	if i < 0 || t.list[i].Size > 0 && addr-t.list[i].Addr >= t.list[i].Size {
		return Symbol{}, false
	}
	return t.list[i], true
}

// named appends the symbols of a name.
func (t *symbolTable) named(dst []Symbol, name string) []Symbol {
	i := sort.Search(len(t.byName), func(i int) bool { return t.all[t.byName[i]].Name >= name })
	from := len(dst)
	for ; i < len(t.byName) && t.all[t.byName[i]].Name == name; i++ {
		s := t.all[t.byName[i]]
		if len(dst) == from || dst[len(dst)-1] != s { // another table may have the same symbol
			dst = append(dst, s)
		}
	}
	return dst
}
