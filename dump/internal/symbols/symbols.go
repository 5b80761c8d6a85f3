// Package symbols lists the symbols of a module's code.
//
// It takes an image and the ranges of code, and gives the symbols of the symbol tables
// that are in code. They are sorted by address; of the symbols at one address the one
// that names the code best comes first.
package symbols

import (
	"bytes"
	"cmp"
	"debug/elf"
	"slices"
	"sort"

	"symkit/dump/internal/losses"
	"symkit/elfx"
	"symkit/internal/dwarfx"
)

// Symbol is a symbol of code.
type Symbol struct {
	Addr, End uint64 // virtual addresses; End is Addr if the symbol has no size
	Rank      uint8  // by kind and binding; 0 is the best
	source    uint8  // number of the table
	Name      []byte // aliases the string table, without a version
}

// labelRank is added to the rank of a symbol that is no function (STT_NOTYPE), innerRank to
// that of a function symbol with the name of a local label. GCC names a thunk .LTHUNK0 besides
// its mangled name, and 64-bit PowerPC's compilers the code of f, whose descriptor is f, .f.
const (
	labelRank = 3
	innerRank = 6
)

// IsFunc reports whether s is a function, not a label.
func (s *Symbol) IsFunc() bool { return s.Rank < labelRank || s.Rank >= innerRank }

// IsLocalLabel reports whether s is a label that only its own source file sees.
func (s *Symbol) IsLocalLabel() bool { return s.Rank == labelRank+localRank }

// Table holds the code symbols by address. Aliases are in the order in which
// they may name the code: functions before labels, functions with the name of a local label
// last, then global before weak before local, then the shortest, then by name.
type Table []Symbol

// Read reads the symbol tables of img: .symtab of both files, .dynsym, and .gnu_debugdata
// (MiniDebugInfo). None of them has the symbols of all others: strip -K leaves a .symtab of a
// few symbols. Symbols outside of code are left out. data has the addresses, ascending, of data
// in code that symbols name: assemblers' tables.
func Read(img *elfx.Image, code dwarfx.CodeMap) (t Table, data []uint64, lost losses.List) {
	r := reader{img: img, code: code, versions: versions{file: img.Main}, data: inCode{code: code}}
	var err error
	r.opd, err = readDescriptors(img)
	r.lost.Add(err)
	if img.Debug != nil {
		r.add(img.Debug.Symtab())
	}
	r.add(img.Main.Symtab())
	r.add(img.Main.Dynsym())
	mini, err := elfx.DebugData(img.Main)
	r.lost.Add(err)
	if mini != nil {
		r.add(mini.Symtab())
	}
	r.lost.Add(r.versions.err)

	slices.SortFunc(r.table, func(a, b Symbol) int {
		if a.Addr != b.Addr {
			return cmp.Compare(a.Addr, b.Addr)
		}
		return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(len(a.Name), len(b.Name)), bytes.Compare(a.Name, b.Name),
			cmp.Compare(a.source, b.source))
	})
	t = withoutInnerLabels(withoutCopies(r.table))
	return t, r.data.named(t), r.lost
}

// withoutCopies drops each symbol that an earlier table of the file has too.
func withoutCopies(t Table) Table {
	out := t[:0]
	for _, s := range t {
		last := len(out) - 1
		if last >= 0 && out[last].Addr == s.Addr && out[last].source != s.source && bytes.Equal(out[last].Name, s.Name) {
			out[last].End = max(out[last].End, s.End)
			continue
		}
		out = append(out, s)
	}
	return out
}

// At returns the symbols at the virtual address addr.
func (t Table) At(addr uint64) Table {
	from, _ := slices.BinarySearchFunc(t, addr, func(s Symbol, a uint64) int { return cmp.Compare(s.Addr, a) })
	if from == len(t) || t[from].Addr != addr {
		return nil
	}
	return t.Aliases(from)
}

// Aliases returns the symbols at the address of t[i], the first symbol there.
func (t Table) Aliases(i int) Table {
	rest, addr := t[i:], t[i].Addr

	// Few symbols share an address, but a hostile file may have a million there.
	n := 0
	for n < len(rest) && n < 8 && rest[n].Addr == addr {
		n++
	}
	if n == 8 {
		n = sort.Search(len(rest), func(i int) bool { return rest[i].Addr > addr })
	}
	return rest[:n]
}

// Ranks returns a function that returns a name's place among the aliases of t, or
// len(t) for a name that is not among them.
func (t Table) Ranks() func(name []byte) int {
	// A map costs more than a search through the few aliases that most addresses have.
	const few = 16
	if len(t) <= few {
		return func(name []byte) int {
			i := slices.IndexFunc(t, func(s Symbol) bool { return bytes.Equal(s.Name, name) })
			if i < 0 {
				return len(t)
			}
			return i
		}
	}

	places := make(map[string]int, len(t))
	for i := range slices.Backward(t) { // of equal names the first one's place stays
		places[string(t[i].Name)] = i
	}
	return func(name []byte) int {
		i, ok := places[string(name)]
		if !ok {
			return len(t)
		}
		return i
	}
}

// reader collects the symbols of several tables.
type reader struct {
	img      *elfx.Image
	code     dwarfx.CodeMap
	opd      descriptors
	versions versions
	source   uint8 // number of the current table
	table    Table
	data     inCode
	lost     losses.List
}

// add adds the code symbols of a table, which is nil if the file does not have it.
func (r *reader) add(table *elfx.SymbolTable, err error) {
	r.lost.Add(err)
	r.source++
	if table == nil {
		return
	}
	// Bit 0 of a function's value says Thumb (AAELF32 §5.5.3), or MIPS16 and microMIPS.
	isa := uint64(0)
	if m := r.img.Main.Machine; m == elf.EM_ARM || m == elf.EM_MIPS {
		isa = 1
	}
	r.table = slices.Grow(r.table, len(table.Symbols))

	for i := range table.Symbols {
		s := &table.Symbols[i]
		if s.Shndx == elfx.ShnUndef || s.Shndx == elfx.ShnAbs && s.Type != elf.STT_FUNC || r.isUnloaded(s) {
			continue
		}

		addr := r.opd.code(s.Value)
		switch s.Type {
		case elf.STT_FUNC, elf.STT_GNU_IFUNC:
			addr &^= isa
		case elf.STT_NOTYPE:
			r.data.mapping(r.img.Main.Machine, addr, table.NameOf(s))
		case elf.STT_OBJECT:
			r.data.object(addr)
			continue
		default:
			continue
		}

		// Symbols outside of code, mapping symbols and local labels are left out.
		name := r.versions.cut(table.NameOf(s))
		if len(name) == 0 || !r.code.Contains(addr) || s.Type == elf.STT_NOTYPE && !isLabel(name) {
			continue
		}
		rank := bindRank(s.Bind)
		switch {
		case s.Type == elf.STT_NOTYPE:
			rank += labelRank
		case name[0] == '.':
			rank += innerRank
		}
		r.table = append(r.table, Symbol{addr, addr + s.Size, rank, r.source, name})
	}
}

// isUnloaded reports whether s is a symbol of a relocatable object whose value is
// no address, since its section is not loaded: RISC-V's objects have such symbols
// in debug sections.
func (r *reader) isUnloaded(s *elfx.Symbol) bool {
	f := r.img.Main
	return f.Type == elf.ET_REL && uint64(s.Shndx) < uint64(len(f.Sections)) && f.Sections[s.Shndx].Flags&elf.SHF_ALLOC == 0
}

// withoutInnerLabels drops labels inside of functions: the code after such a
// label belongs to the function.
func withoutInnerLabels(t Table) Table {
	end := uint64(0) // of the functions so far
	return slices.DeleteFunc(t, func(s Symbol) bool {
		if s.IsFunc() {
			end = max(end, s.End)
			return false
		}
		return s.Addr < end
	})
}

func bindRank(b elf.SymBind) uint8 {
	switch b {
	case elf.STB_GLOBAL, 10: // 10: STB_GNU_UNIQUE
		return 0
	case elf.STB_WEAK:
		return 1
	}
	return localRank
}

// localRank is the rank of a local function.
const localRank = 2

// isLabel reports whether name is a label from source code. Mapping symbols ($a, $x.1) and
// local labels, which assemblers and linkers make, are not.
func isLabel(name []byte) bool {
	return name[0] != '$' && name[0] != '.' && !bytes.ContainsAny(name, "\x01\x02")
}
