//go:build oracle

package symbolizer

import (
	"cmp"
	"debug/elf"
	"slices"
	"testing"

	"symkit/internal/oracle"
	"symkit/internal/oracle/symfile"
)

// aliases knows the symbols of a file by address: all of one address are names
// of one function.
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

// same compares two stacks in normal form; alike does so with the names at one
// depth. The outermost function begins at start: llvm-symbolizer and addr2line
// take its name from the symbol table, so there all symbols of that address are
// one.
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

// has tells whether f is called as a symbol at addr is.
func (a *aliases) has(addr uint64, f symfile.Frame, alike func(x, y symfile.Frame) bool) bool {
	for _, symbol := range a.byAddr[addr] {
		if alike(f, symbol) {
			return true
		}
	}
	return false
}
