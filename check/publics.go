package check

import (
	"cmp"
	"debug/elf"
	"slices"
	"strings"

	"symkit/check/internal/collect"
	"symkit/check/internal/naming"
	"symkit/check/internal/pcs"
	"symkit/check/report"
	"symkit/elfx"
	"symkit/limits"
)

// codeSymbol is a symbol of code.
type codeSymbol struct {
	addr uint64 // of the ELF file
	name uint32 // number in names
	kind symbolKind
	end  uint64 // after the symbol's last byte; addr if it has no size
}

// symbolKind is what the symbol file needs for a symbol.
type symbolKind uint8

const (
	symbolFunction symbolKind = iota // STT_FUNC or STT_GNU_IFUNC, which needs a FUNC or PUBLIC
	symbolLabel                      // another symbol of the same table, which tools may omit
	symbolAlias                      // a name that is accepted, but needs no record
)

// symbols returns the symbols of code by address, from every table of both files and of
// MiniDebugInfo. any is false if there is no table.
func (r *replay) symbols() (all []codeSymbol, any bool) {
	if r.symbolList != nil {
		return r.symbolList, r.anySymbols
	}
	main, err := r.img.Symbols()
	if err != nil {
		r.c.Unverified(report.CheckPublics, 1, err.Error())
	}

	// Symbols of the main table need records; those of all other tables are accepted names.
	all = r.appendSymbols(all, main, true)
	all, mini := r.appendMini(all)
	for _, f := range []*elfx.File{r.img.Main, r.img.Debug} {
		if f == nil {
			continue
		}
		for _, table := range []func() (*elfx.SymbolTable, error){f.Symtab, f.Dynsym} {
			if t, err := table(); err == nil {
				all = r.appendSymbols(all, t, false)
			}
		}
	}

	// Of equal names at one address the kind that needs most comes first, and stays.
	slices.SortFunc(all, func(a, b codeSymbol) int {
		return cmp.Or(cmp.Compare(a.addr, b.addr), cmp.Compare(a.name, b.name), cmp.Compare(a.kind, b.kind))
	})
	all = slices.CompactFunc(all, func(a, b codeSymbol) bool { return a.addr == b.addr && a.name == b.name })
	r.symbolList, r.anySymbols = all, main != nil || mini
	return all, r.anySymbols
}

// appendMini appends the symbols in .gnu_debugdata. It returns false if there is no table.
func (r *replay) appendMini(all []codeSymbol) ([]codeSymbol, bool) {
	f, err := r.img.Main.DebugData()
	if err != nil {
		r.c.Unverified(report.CheckPublics, 1, err.Error())
	}
	if f == nil {
		return all, false
	}
	defer f.Close()

	t, err := f.Symtab()
	if err != nil {
		r.c.Unverified(report.CheckPublics, 1, err.Error())
	}
	return r.appendSymbols(all, t, true), t != nil
}

// appendSymbols appends the code symbols of one table. The symbols of a table that is not primary
// need no PUBLIC.
func (r *replay) appendSymbols(all []codeSymbol, t *elfx.SymbolTable, primary bool) []codeSymbol {
	if t == nil {
		return all
	}
	arm := r.img.Main.Machine == elf.EM_ARM
	named := uint64(0) // bytes of names so far
	for i := range t.Symbols {
		s := &t.Symbols[i]
		if s.Shndx == elfx.ShnUndef {
			continue
		}

		// Only functions, and labels without a type, can be names of code.
		addr, function := s.Value, false
		switch s.Type {
		case elf.STT_FUNC, elf.STT_GNU_IFUNC:
			function = true
			if arm {
				addr &^= 1 // bit 0 says Thumb (AAELF32 §5.5.3)
			}
		case elf.STT_NOTYPE:
		default:
			continue
		}

		text := t.NameOf(s)
		named += uint64(len(text))
		if named > r.opt.Limits.Max(limits.Names, r.img.Size()) {
			r.tooManySymbols = true
			return all
		}
		name := string(text)
		if name == "" || !r.code.Contains(addr) || !function && isMapping(r.img.Main.Machine, name) {
			continue
		}

		if !primary {
			r.entries[addr]++
		}

		// The name without a symbol version is the one that FUNC and PUBLIC records have.
		plain, _, _ := strings.Cut(name, "@") // version
		if plain == "" {
			plain = name
		}

		end := addr
		if function {
			end += s.Size
		}
		// The value of an absolute symbol is a number that no section moves with. It is an address
		// of code only where the symbol's type is a function, as Breakpad's dump_syms takes it.
		// BOLT writes __hot_end as such a symbol.
		primary := primary && (s.Shndx != elfx.ShnAbs || s.Type == elf.STT_FUNC)

		kind := symbolAlias
		switch {
		case primary && function:
			kind = symbolFunction
		case primary && !isInternal(name):
			kind = symbolLabel
		}

		add := func(name string, kind symbolKind) {
			all = append(all, codeSymbol{addr, r.names.ID(naming.Key{Linkage: name}), kind, end})
		}
		add(plain, kind)
		if base, _, _ := strings.Cut(plain, "."); function && base != "" && base != plain {
			// A part or copy of a function has the function's own name.
			add(base, symbolAlias)
		}
		if plain != name {
			add(name, symbolAlias)
		}
	}
	return all
}

// isMapping reports whether a symbol marks where code, in which instruction set, or data begins:
// $a, $t, $x and $d, also with more after a dot or, on RISC-V, right after the letter (AAELF32
// §5.5.5, AAELF64 §5.6.2, RISC-V psABI "Mapping Symbol").
func isMapping(m elf.Machine, name string) bool {
	if m != elf.EM_ARM && m != elf.EM_AARCH64 && m != elf.EM_RISCV || len(name) < 2 || name[0] != '$' {
		return false
	}
	return strings.IndexByte("atdx", name[1]) >= 0 && (len(name) == 2 || name[2] == '.' || m == elf.EM_RISCV && name[1] == 'x')
}

// isInternal reports whether a label is one that tools make for themselves. symkit omits such
// labels.
func isInternal(name string) bool {
	return name[0] == '.' || name[0] == '$' || strings.ContainsAny(name, "\x01\x02")
}

// aliasTable has, by address, the names of all symbols, and the ends of the function symbols with a
// size.
type aliasTable struct {
	names map[uint64][]uint32
	ends  map[uint64][]uint64
}

// aliasNames returns the table of all symbols.
func (r *replay) aliasNames() *aliasTable {
	all, _ := r.symbols()
	t := &aliasTable{names: map[uint64][]uint32{}, ends: map[uint64][]uint64{}}
	for _, s := range all {
		t.names[s.addr] = append(t.names[s.addr], s.name)
		if s.end > s.addr && !slices.Contains(t.ends[s.addr], s.end) {
			t.ends[s.addr] = append(t.ends[s.addr], s.end)
		}
	}
	return t
}

// checkPublics checks that every function symbol that no FUNC covers has a PUBLIC, and that every
// PUBLIC is a symbol.
func (r *replay) checkPublics() error {
	c, s := r.c, r.s
	c.Begin(report.CheckPublics, "symbols")
	all, any := r.symbols()
	if !any {
		c.State(report.CheckPublics, report.NotInELF, "no symbol table")
		c.Unverified(report.CheckPublics, uint64(len(s.Publics)), "")
		return nil
	}

	// Symbols at one address are judged together.
	funcs := pcs.SetOf(s.Funcs)
	inner := uint64(0) // after the last byte of the function symbols so far
	for from := 0; from < len(all); {
		to := from
		function, name := false, uint32(0)
		for to < len(all) && all[to].addr == all[from].addr {
			// Tools may omit labels; symkit omits only labels inside functions.
			if !function && (all[to].kind == symbolFunction || r.s.Own && all[to].kind == symbolLabel && all[to].addr >= inner) {
				function, name = true, all[to].name
			}
			to++
		}

		for _, s := range all[from:to] {
			inner = max(inner, s.end)
		}
		if addr := all[from].addr; function && addr >= r.bias && !funcs.Contains(addr-r.bias) {
			c.Compared(report.CheckPublics, 1)
			if !r.hasPublic(addr) {
				c.Missing(collect.At(report.CheckPublics, 0, addr-r.bias, "no PUBLIC at %#x: %s", addr-r.bias, r.names.Text(name)), 1)
			}
		}
		from = to
	}
	r.publicNames(all)
	return nil
}

// publicNames checks that each PUBLIC has the name of a symbol at its address, or of a stub for
// calls to other modules.
func (r *replay) publicNames(all []codeSymbol) {
	c, s := r.c, r.s
	stubs := r.readStubs(all)
	stubs.missing()
	for i := range s.Publics {
		p := &s.Publics[i]
		c.Compared(report.CheckPublics, 1)
		addr := p.Addr + r.bias

		// Any name of any symbol at the address is right.
		from, known := slices.BinarySearchFunc(all, addr, func(s codeSymbol, a uint64) int { return cmp.Compare(s.addr, a) })
		name, ok := naming.Normalise(string(p.Name)), false
		for k := from; k < len(all) && all[k].addr == addr && !ok; k++ {
			ok = r.names.Accept(all[k].name, name)
		}
		switch {
		case !ok && stubs.accept(addr, string(p.Name)):
		case !known:
			c.Wrong(collect.At(report.CheckPublics, p.At, p.Addr, "no symbol of code is at %#x", p.Addr), 1)
		case !ok:
			c.Wrong(collect.At(report.CheckPublics, p.At, p.Addr, "the symbol is %s", r.names.Text(all[from].name)), 1)
		case p.Multiple && r.entries[addr] < 2:
			c.Wrong(collect.At(report.CheckPublics, p.At, p.Addr, "marked m, but no other symbol shares its address"), 1)
		}
		if p.Params != 0 {
			c.Wrong(collect.At(report.CheckPublics, p.At, p.Addr, "a parameter size other than 0"), 1)
		}
	}
}
