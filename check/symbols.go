package check

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
	"symkit/check/internal/truth"
	"symkit/check/report"
	"symkit/elfx"
	"symkit/limits"
)

// symbols are the symbols of code in every table of both files and of MiniDebugInfo. These tables do
// not depend on the symbol file, so they are read while the symbol file is read.
type symbols struct {
	r        *replay
	all      []codeSymbol // by address
	names    *naming.Table
	any      bool     // there is a table
	over     error    // the limit that the tables exceed; then there are no symbols here
	twice    []uint64 // addresses that several symbols of one table have, in order
	versions map[string]bool
	opd      opd
	// objects are the addresses of data in code, marks the mapping symbols, both in order.
	objects []uint64
	marks   []mappingMark
	bounds  []uint64 // addresses where symbols of code or data begin, in order
}

// codeSymbol is a symbol of code.
type codeSymbol struct {
	addr uint64 // of the ELF file
	name uint32 // number in names
	kind symbolKind
	// dotted states that a label has a dot in its name.
	dotted bool
	// function states that the symbol's type is a function.
	function bool
	end      uint64 // after the symbol's last byte; addr if it has no size
	size     uint64 // of any symbol, in bytes
}

// symbolKind decides which record the symbol file needs for a symbol.
type symbolKind uint8

const (
	symbolFunction symbolKind = iota // STT_FUNC or STT_GNU_IFUNC, which needs a FUNC or PUBLIC
	symbolLabel                      // another symbol of the same table, which tools may omit
	symbolAlias                      // a name that is accepted, but needs no record
)

// symbolBytes is what a codeSymbol takes in memory, with what slices need to grow.
const symbolBytes = 72

// newSymbols returns symbols without any: see read.
func newSymbols(r *replay) *symbols {
	t := &symbols{r: r, names: naming.NewTable()}
	t.names.Most = r.names.Most
	return t
}

// read reads all tables. The tables of the files and of MiniDebugInfo have the same rights: each may
// lack symbols of the others, since strip -K leaves a .symtab of a few symbols.
func (t *symbols) read() {
	r := t.r
	t.versions = truth.Versions(r.img.Main)
	t.opd = readOPD(r.img.Main)
	t.any = t.addMini()
	for _, f := range []*elfx.File{r.img.Main, r.img.Debug} {
		if f == nil {
			continue
		}
		for _, read := range []func() (*elfx.SymbolTable, error){f.Symtab, f.Dynsym} {
			table, err := read()
			t.unread(err)
			t.add(table)
			t.any = t.any || table != nil
		}
	}

	// With some of the symbols alone, sound records would be findings.
	if t.over != nil {
		t.all, t.twice, t.objects, t.marks = nil, nil, nil, nil
		t.names = naming.NewTable()
	}

	// Of equal names at one address the kind that needs most comes first, and stays.
	slices.SortFunc(t.all, func(a, b codeSymbol) int {
		switch {
		case a.addr != b.addr:
			return cmp.Compare(a.addr, b.addr)
		case a.name != b.name:
			return cmp.Compare(a.name, b.name)
		}
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(b.end, a.end))
	})
	t.all = slices.CompactFunc(t.all, func(a, b codeSymbol) bool { return a.addr == b.addr && a.name == b.name })
	slices.Sort(t.twice)
	t.order()
}

// exceed notes that the symbols exceed a limit.
func (t *symbols) exceed(x limits.Limit) {
	t.over = fmt.Errorf("names of symbols: %w", t.r.opt.Limits.Exceeded(x, t.r.img.Size()))
}

// unread notes why a table was not read.
func (t *symbols) unread(err error) {
	switch {
	case errors.Is(err, limits.ErrExceeded):
		t.over = err
	case err != nil:
		t.r.c.Unverified(report.CheckPublics, 1, err.Error())
	}
}

// addMini adds the symbols in .gnu_debugdata. It returns false if there is no table.
func (t *symbols) addMini() bool {
	r := t.r
	f, err := elfx.DebugData(r.img.Main)
	t.unread(err)
	if f == nil {
		return false
	}
	defer f.Close()

	table, err := f.Symtab()
	t.unread(err)
	t.add(table)
	return table != nil
}

// each calls f with the code symbols of one table. A function has its address without the bit of the
// instruction set.
func (t *symbols) each(table *elfx.SymbolTable, f func(s *elfx.Symbol, addr uint64, name []byte, function bool)) {
	if table == nil {
		return
	}
	r := t.r
	machine, most := r.img.Main.Machine, r.opt.Limits.Max(limits.Names, r.img.Size())
	named := uint64(0) // bytes of names so far
	records := r.opt.Limits.Max(limits.SymbolRecords, r.img.Size()) / symbolBytes
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
			if r.code.Contains(addr) {
				t.objects = append(t.objects, addr)
			}
			continue
		default:
			continue
		}

		name := table.NameOf(s)
		named += uint64(len(name))
		if named > most {
			t.exceed(limits.Names)
			return
		}
		if uint64(len(t.all)) > records {
			t.exceed(limits.SymbolRecords)
			return
		}
		switch {
		case len(name) == 0 || !r.code.Contains(addr):
		case !function && isMapping(machine, name):
			t.marks = append(t.marks, mappingMark{addr, name[1] == 'd'})
		default:
			f(s, addr, name, function)
		}
	}
}

// add adds the code symbols of one table.
func (t *symbols) add(table *elfx.SymbolTable) {
	var all []uint64
	t.each(table, func(s *elfx.Symbol, addr uint64, name []byte, function bool) {
		all = append(all, addr)

		// The name without a symbol version is the one that FUNC and PUBLIC records have.
		plain := t.unversioned(name)
		end := addr + s.Size

		// The value of an absolute symbol is a number that no section moves with. It is an address
		// of code only where the symbol's type is a function, as Breakpad's dump_syms takes it.
		// BOLT writes __hot_end as such a symbol.
		needed := s.Shndx != elfx.ShnAbs || s.Type == elf.STT_FUNC

		kind := symbolAlias
		switch {
		case needed && function:
			kind = symbolFunction
		case needed && !isInternal(name):
			kind = symbolLabel
		}

		add := func(name []byte, kind symbolKind) {
			dotted := kind == symbolLabel && bytes.IndexByte(name, '.') >= 0
			t.all = append(t.all, codeSymbol{addr, t.names.Number(name, nil, 0, naming.Traits{}), kind, dotted, function, end, s.Size})
		}
		add(plain, kind)
		if base, _, _ := bytes.Cut(plain, []byte(".")); function && len(base) > 0 && len(base) < len(plain) {
			// A part or copy of a function has the function's own name, which may have dots.
			add(base, symbolAlias)
			whole, cold := bytes.CutSuffix(plain, []byte(".cold"))
			if cold && len(whole) > len(base) {
				add(whole, symbolAlias)
			}
		}
		if len(plain) < len(name) {
			add(name, symbolAlias)
		}
	})

	slices.Sort(all)
	for i := 1; i < len(all); i++ {
		if all[i] == all[i-1] {
			t.twice = append(t.twice, all[i])
		}
	}
}

// unversioned returns a name without the symbol version at its end, NAME@VERSION or
// NAME@@VERSION, if the file has a version of this name.
func (t *symbols) unversioned(name []byte) []byte {
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

// at returns the symbols at an address.
func (t *symbols) at(addr uint64) []codeSymbol {
	from := sort.Search(len(t.all), func(i int) bool { return t.all[i].addr >= addr })
	to := from
	for to < len(t.all) && t.all[to].addr == addr {
		to++
	}
	return t.all[from:to]
}

// shared reports whether several symbols of code are at an address: two of one table, or two names.
func (t *symbols) shared(addr uint64) bool {
	if _, twice := slices.BinarySearch(t.twice, addr); twice {
		return true
	}
	names := 0
	for _, s := range t.at(addr) {
		if s.kind != symbolAlias {
			names++
		}
	}
	return names > 1
}

// judge compares a name with those of symbols: the best verdict counts.
func (t *symbols) judge(symbols []codeSymbol, name string) (best naming.Verdict) {
	for _, s := range symbols {
		best = max(best, t.names.Judge(s.name, name))
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
