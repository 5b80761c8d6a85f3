//go:build oracle

package dwarftruth

import (
	"debug/elf"
	"slices"
	"strings"
	"testing"

	"github.com/ianlancetaylor/demangle"
)

// funcSymbols are the function symbols with a size, by address.
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
			if kind := elf.ST_TYPE(s.Info); (kind == elf.STT_FUNC || kind == elf.STT_GNU_IFUNC) && s.Size > 0 {
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

// has reports whether a symbol at lo reaches to hi, and a symbol at lo has the name.
func (s funcSymbols) has(lo, hi uint64, name string) bool {
	reaches := slices.ContainsFunc(s[lo], func(s elf.Symbol) bool { return lo+s.Size >= hi })
	return reaches && slices.ContainsFunc(s[lo], func(s elf.Symbol) bool {
		// The version and the suffix of a part or copy are not in the name of the FUNC
		// record.
		plain, _, _ := strings.Cut(s.Name, "@")
		plain, _, _ = strings.Cut(plain, ".") // the suffix of a part or copy
		return name == plain || name == demangle.Filter(plain)
	})
}
