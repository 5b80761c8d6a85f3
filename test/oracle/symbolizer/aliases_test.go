//go:build oracle

package symbolizer

import (
	"cmp"
	"debug/elf"
	"slices"
	"testing"

	"symkit/test/oracle"
	"symkit/test/oracle/symfile"
)

// aliases are the symbols of a file by address: all at one address are names of one
// function.
type aliases struct {
	byAddr map[uint64][]symfile.Frame // their names alone
	sized  []oracle.Span              // of functions
	code   oracle.Layout
}

func readAliases(t *testing.T, in *oracle.Input) *aliases {
	t.Helper()
	a := &aliases{byAddr: map[uint64][]symfile.Frame{}, code: oracle.ReadLayout(t, in.Main)}
	for _, file := range in.Files() {
		f, err := elf.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		a.add(f.Symbols())
		a.add(f.DynamicSymbols())
		f.Close()
	}

	slices.SortFunc(a.sized, func(x, y oracle.Span) int { return cmp.Compare(x.Lo, y.Lo) })
	return a
}

func (a *aliases) add(symbols []elf.Symbol, _ error) { // a file may have no table
	for _, s := range symbols {
		if s.Section == elf.SHN_UNDEF || s.Name == "" || !a.code.Live(s.Value) {
			continue
		}
		a.byAddr[s.Value] = append(a.byAddr[s.Value], normal(symfile.Stack{{Name: s.Name}})...)
		if typ := elf.ST_TYPE(s.Info); s.Size > 0 && (typ == elf.STT_FUNC || typ == elf.STT_GNU_IFUNC) {
			a.sized = append(a.sized, oracle.Span{Lo: s.Value, Hi: s.Value + s.Size})
		}
	}
}

// same reports whether two stacks in normal form mean the same; alike compares the
// names at one depth. llvm-symbolizer and addr2line take the name of the outermost
// function, which begins at start, from the symbol table: all symbols there are names
// of it.
func (a *aliases) same(x, y symfile.Stack, start uint64, alike func(x, y symfile.Frame) bool) bool {
	if len(x) != len(y) {
		return false
	}

	for i := range x {
		if x[i].Line != y[i].Line || !sameFile(x[i].File, y[i].File) {
			return false
		}
		if alike(x[i], y[i]) {
			continue
		}
		if i < len(x)-1 || !a.has(start, x[i], alike) || !a.has(start, y[i], alike) {
			return false
		}
	}
	return true
}

// has reports whether a symbol at addr is a name of f.
func (a *aliases) has(addr uint64, f symfile.Frame, alike func(x, y symfile.Frame) bool) bool {
	for _, symbol := range a.byAddr[addr] {
		if alike(f, symbol) {
			return true
		}
	}
	return false
}
