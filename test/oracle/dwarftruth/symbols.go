//go:build oracle

package dwarftruth

import (
	"debug/elf"
	"slices"
	"strings"
	"testing"

	"github.com/ianlancetaylor/demangle"
)

// funcSymbols are the symbols that may be functions, by address: those of functions, and labels
// of assembler code, which may have no size.
type funcSymbols map[uint64][]elf.Symbol

// readSymbols reads the function symbols of the first file with a .symtab.
func readSymbols(t *testing.T, paths []string) funcSymbols {
	t.Helper()
	symbols := funcSymbols{}
	for _, path := range paths {
		f, err := elf.Open(path)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}

		list, _ := f.Symbols()
		f.Close()
		for _, s := range list {
			kind := elf.ST_TYPE(s.Info)
			label := kind == elf.STT_NOTYPE && s.Section != elf.SHN_UNDEF && !strings.HasPrefix(s.Name, "$")
			if kind == elf.STT_FUNC || kind == elf.STT_GNU_IFUNC || label {
				addr := s.Value
				// Bit 0 of an ARM function symbol's value means Thumb code.
				if f.Machine == elf.EM_ARM {
					addr &^= 1
				}
				symbols[addr] = append(symbols[addr], s)
			}
		}
		if len(symbols) > 0 {
			break
		}
	}
	return symbols
}

// has reports whether a symbol at lo reaches to hi, and a symbol at lo has the name. A symbol
// without a size reaches to the next one.
func (s funcSymbols) has(lo, hi uint64, name string) bool {
	reaches := slices.ContainsFunc(s[lo], func(x elf.Symbol) bool {
		return lo+x.Size >= hi || x.Size == 0 && !s.within(lo+1, hi)
	})
	return reaches && slices.ContainsFunc(s[lo], func(s elf.Symbol) bool {
		// The version and the suffix of a part or copy are not in the name of the FUNC
		// record.
		plain, _, _ := strings.Cut(s.Name, "@")
		plain, _, _ = strings.Cut(plain, ".") // the suffix of a part or copy
		return name == plain || name == demangle.Filter(plain)
	})
}

// within reports whether a symbol lies in [lo, hi).
func (s funcSymbols) within(lo, hi uint64) bool {
	for addr := range s {
		if lo <= addr && addr < hi {
			return true
		}
	}
	return false
}
