// Package symtab reads the symbols of code of an image.
package symtab

import (
	"bytes"
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"symkit/check/internal/naming"
	"symkit/check/internal/pcs"
	"symkit/check/internal/truth/image"
	"symkit/elfx"
	"symkit/internal/limitof"
	"symkit/limits"
)

// Table is the symbols of code in every table of both files of an image and of MiniDebugInfo. These
// tables do not depend on the symbol file, so they are read while the symbol file is read.
type Table struct {
	All   []Symbol // by address
	Names *naming.Table
	Any   bool // there is a table
	// Local states that there is a .symtab or MiniDebugInfo. A table of exported symbols alone does not
	// have the other functions' names.
	Local bool
	Over  error // the limit that the tables exceed; then there are no symbols here
	// Losses are the reasons why tables were not read.
	Losses []error

	twice []uint64 // addresses that several symbols of one table have, in order
	// objects are the addresses of data in code, marks the mapping symbols, both in order.
	objects []uint64
	marks   []mappingMark
	bounds  []uint64 // addresses where symbols of code or data begin, in order
}

// Symbol is a symbol of code.
type Symbol struct {
	Addr uint64 // of the ELF file
	Name uint32 // number in Names
	Kind Kind
	// Dotted states that a label has a dot in its name.
	Dotted bool
	// Function states that the symbol's type is a function.
	Function bool
	End      uint64 // after the symbol's last byte; Addr if it has no size
	Size     uint64 // of any symbol, in bytes
}

// Kind decides which record the symbol file needs for a symbol.
type Kind uint8

// The kinds of symbols.
const (
	Function Kind = iota // STT_FUNC or STT_GNU_IFUNC, which needs a FUNC or PUBLIC
	Label                // another symbol of the same table, which tools may omit
	Alias                // a name that is accepted, but needs no record
)

// symbolBytes is what a Symbol takes in memory, with what slices need to grow.
const symbolBytes = 72

// reader is one run of Read.
type reader struct {
	*Table
	img      *elfx.Image
	code     pcs.Set
	limits   limits.Limits
	versions map[string]bool
	opd      opd
}

// Read reads all tables of img, whose code is given. The tables of the files and of MiniDebugInfo have
// the same rights: each may lack symbols of the others, since strip -K leaves a .symtab of a few symbols.
func Read(img *elfx.Image, code pcs.Set, l limits.Limits) *Table {
	t := &reader{Table: &Table{Names: naming.NewTable()}, img: img, code: code, limits: l, versions: image.Versions(img.Main), opd: readOPD(img.Main)}
	t.Names.Most = l.Max(limitof.Names, img.Size())
	t.Local = t.addMini()
	for _, f := range []*elfx.File{img.Main, img.Debug} {
		if f == nil {
			continue
		}
		t.Local = t.addTable(f.Symtab()) || t.Local
		t.Any = t.addTable(f.Dynsym()) || t.Any
	}
	t.Any = t.Any || t.Local

	// With some of the symbols alone, sound records would be findings.
	if t.Over != nil {
		t.All, t.twice, t.objects, t.marks = nil, nil, nil, nil
		t.Names = naming.NewTable()
	}

	// Of equal names at one address the kind that needs most comes first, and stays.
	slices.SortFunc(t.All, func(a, b Symbol) int {
		switch {
		case a.Addr != b.Addr:
			return cmp.Compare(a.Addr, b.Addr)
		case a.Name != b.Name:
			return cmp.Compare(a.Name, b.Name)
		}
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(b.End, a.End))
	})
	t.All = slices.CompactFunc(t.All, func(a, b Symbol) bool { return a.Addr == b.Addr && a.Name == b.Name })
	slices.Sort(t.twice)
	t.order()
	return t.Table
}

// exceed notes that the symbols exceed a limit.
func (t *reader) exceed(x string) {
	t.Over = fmt.Errorf("names of symbols: %w", t.limits.Exceeded(x, t.img.Size()))
}

// unread notes why a table was not read.
func (t *reader) unread(err error) {
	switch {
	case errors.Is(err, limits.ErrExceeded):
		t.Over = err
	case err != nil:
		t.Losses = append(t.Losses, err)
	}
}

// addTable adds the symbols of a table that was read, or notes why it was not. It returns false if there
// is no table.
func (t *reader) addTable(table *elfx.SymbolTable, err error) bool {
	t.unread(err)
	t.add(table)
	return table != nil
}

// addMini adds the symbols in .gnu_debugdata. It returns false if there is no table.
func (t *reader) addMini() bool {
	f, err := elfx.DebugData(t.img.Main)
	t.unread(err)
	if f == nil {
		return false
	}
	defer f.Close()

	return t.addTable(f.Symtab())
}

// each calls f with the code symbols of one table. A function has its address without the bit of the
// instruction set.
func (t *reader) each(table *elfx.SymbolTable, f func(s *elfx.Symbol, addr uint64, name []byte, function bool)) {
	machine, most := t.img.Main.Machine, t.limits.Max(limitof.Names, t.img.Size())
	named := uint64(0) // bytes of names so far
	records := t.limits.Max(limitof.SymbolRecords, t.img.Size()) / symbolBytes
	for i := range table.Symbols {
		s := &table.Symbols[i]
		if s.Shndx == elfx.ShnUndef {
			continue
		}

		// Only functions, and labels without a type, can be names of code.
		addr, function := t.opd.entry(s.Value), false
		switch s.Type {
		case elf.STT_FUNC, elf.STT_GNU_IFUNC:
			function = true
			if machine == elf.EM_ARM || machine == elf.EM_MIPS {
				addr &^= 1 // bit 0 says Thumb (AAELF32 §5.5.3), or MIPS16 and microMIPS
			}
		case elf.STT_NOTYPE:
		case elf.STT_OBJECT:
			if t.code.Contains(addr) {
				t.objects = append(t.objects, addr)
			}
			continue
		default:
			continue
		}

		name := table.NameOf(s)
		named += uint64(len(name))
		if named > most {
			t.exceed(limitof.Names)
			return
		}
		if uint64(len(t.All)) > records {
			t.exceed(limitof.SymbolRecords)
			return
		}
		switch {
		case len(name) == 0 || !t.code.Contains(addr):
		case !function && isMapping(machine, name):
			t.marks = append(t.marks, mappingMark{addr, name[1] == 'd'})
		default:
			f(s, addr, name, function)
		}
	}
}

// add adds the code symbols of one table.
func (t *reader) add(table *elfx.SymbolTable) {
	if table == nil {
		return
	}
	all := make([]uint64, 0, len(table.Symbols))
	t.All = slices.Grow(t.All, len(table.Symbols))
	t.each(table, func(s *elfx.Symbol, addr uint64, name []byte, function bool) {
		all = append(all, addr)

		// The name without a symbol version is the one that FUNC and PUBLIC records have.
		plain := t.unversioned(name)
		end := addr + s.Size

		// The value of an absolute symbol is a number that no section moves with. It is an address
		// of code only where the symbol's type is a function, as Breakpad's dump_syms takes it.
		// BOLT writes __hot_end as such a symbol.
		needed := s.Shndx != elfx.ShnAbs || s.Type == elf.STT_FUNC

		kind := Alias
		switch {
		case needed && function:
			kind = Function
		case needed && !isInternal(name):
			kind = Label
		}

		add := func(name []byte, kind Kind) {
			dotted := kind == Label && bytes.IndexByte(name, '.') >= 0
			t.All = append(t.All, Symbol{addr, t.Names.Number(name, nil, 0, naming.Traits{}), kind, dotted, function, end, s.Size})
		}
		add(plain, kind)
		if function {
			// A part or copy of a function has the function's own name, which may have dots: that of a nested function
			// ends in a number (inner.3.constprop.0), that of a unit's constructor in the unit (_GLOBAL__sub_I_a.cc.lto_priv.0).
			for i, n := 1, 0; i < len(plain) && n < maxDots; i++ {
				if plain[i] == '.' {
					add(plain[:i], Alias)
					n++
				}
			}
		}
		if len(plain) < len(name) {
			add(name, Alias)
		}
	})

	slices.Sort(all)
	for i := 1; i < len(all); i++ {
		if all[i] == all[i-1] {
			t.twice = append(t.twice, all[i])
		}
	}
}

// maxDots bounds the names of a symbol without suffixes. GCC and Clang write no more dots but in names of files.
const maxDots = 4

// unversioned returns a name without the symbol version at its end, NAME@VERSION or
// NAME@@VERSION, if the file has a version of this name.
func (t *reader) unversioned(name []byte) []byte {
	base, version := name, []byte(nil)
	if i := bytes.LastIndexByte(name, '@'); i > 0 {
		base, version = name[:i], name[i+1:]
	}
	base = bytes.TrimSuffix(base, []byte("@"))
	if len(base) == 0 || !t.versions[string(version)] {
		return name
	}
	return base
}

// At returns the symbols at an address.
func (t *Table) At(addr uint64) []Symbol {
	from := sort.Search(len(t.All), func(i int) bool { return t.All[i].Addr >= addr })
	to := from
	for to < len(t.All) && t.All[to].Addr == addr {
		to++
	}
	return t.All[from:to]
}

// Shared reports whether several symbols of code are at an address: two of one table, or two names.
func (t *Table) Shared(addr uint64) bool {
	if _, twice := slices.BinarySearch(t.twice, addr); twice {
		return true
	}
	names := 0
	for _, s := range t.At(addr) {
		if s.Kind != Alias {
			names++
		}
	}
	return names > 1
}

// Judge compares a name with those of symbols: the best verdict counts.
func (t *Table) Judge(symbols []Symbol, name string) (best naming.Verdict) {
	for _, s := range symbols {
		best = max(best, t.Names.Judge(s.Name, name))
		if best == naming.Right {
			break
		}
	}
	return best
}

// isMapping reports whether a symbol marks where code, in which instruction set, or data begins:
// $a, $t, $x and $d, also with more after a dot or, on RISC-V, right after the letter (AAELF32
// §5.5.5, AAELF64 §5.6.2, RISC-V psABI "Mapping Symbol").
func isMapping(m elf.Machine, name []byte) bool {
	if m != elf.EM_ARM && m != elf.EM_AARCH64 && m != elf.EM_RISCV || len(name) < 2 || name[0] != '$' {
		return false
	}
	return strings.IndexByte("atdx", name[1]) >= 0 && (len(name) == 2 || name[2] == '.' || m == elf.EM_RISCV && name[1] == 'x')
}

// isInternal reports whether a label was made by a tool for its own use. symkit omits such labels.
func isInternal(name []byte) bool {
	return name[0] == '.' || name[0] == '$' || bytes.ContainsAny(name, "\x01\x02")
}
