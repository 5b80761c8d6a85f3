//go:build oracle

package symbolizer

import (
	"cmp"
	"debug/elf"
	"errors"
	"slices"
	"testing"

	"symkit/test/oracle"
	"symkit/test/oracle/symfile"
)

// twin maps addresses of a program to those of another one with the same functions at
// other addresses, and other debug information.
type twin struct {
	file string
	own  []elf.Symbol // by address: functions that have a twin
	addr map[string]uint64
	// stripped means that the program has neither symbols nor DWARF.
	stripped bool
}

// newTwin pairs functions by name and size, except those whose names are not unique. A
// program without symbols has the functions of x, with other padding.
func newTwin(t *testing.T, in *oracle.Input, x *symfile.Index, other *oracle.Input) *twin {
	t.Helper()
	tw := &twin{file: other.Main, addr: map[string]uint64{}}
	own, theirs := functions(t, in.Main), functions(t, other.Main)
	tw.stripped = len(own) == 0
	if tw.stripped {
		times := map[string]int{}
		for _, f := range x.Funcs {
			times[f.Name]++
			if times[f.Name] > 1 { // Go's wrappers for its other calling convention
				delete(own, f.Name)
				continue
			}
			own[f.Name] = elf.Symbol{Name: f.Name, Value: f.Lo + x.Load, Size: min(f.Hi-f.Lo, theirs[f.Name].Size)}
		}
	}

	for name, s := range own {
		if o, ok := theirs[name]; ok && (o.Size == s.Size || tw.stripped) {
			tw.own = append(tw.own, s)
			tw.addr[name] = o.Value
		}
	}

	slices.SortFunc(tw.own, func(a, b elf.Symbol) int { return cmp.Compare(a.Value, b.Value) })
	return tw
}

// functions returns the function symbols with a unique name.
func functions(t *testing.T, path string) map[string]elf.Symbol {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()

	symbols, err := f.Symbols()
	if err != nil && !errors.Is(err, elf.ErrNoSymbols) {
		t.Fatal(err)
	}

	count := map[string]int{}
	out := map[string]elf.Symbol{}
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Size > 0 {
			count[s.Name]++
			out[s.Name] = s
		}
	}

	for name, n := range count {
		if n > 1 {
			delete(out, name)
		}
	}
	return out
}

// address returns the address of the code at pc in the twin.
func (tw *twin) address(pc uint64) (uint64, bool) {
	i, _ := slices.BinarySearchFunc(tw.own, pc+1, func(s elf.Symbol, addr uint64) int { return cmp.Compare(s.Value, addr) })
	if i == 0 || pc-tw.own[i-1].Value >= tw.own[i-1].Size {
		return 0, false
	}
	return tw.addr[tw.own[i-1].Name] + pc - tw.own[i-1].Value, true
}
