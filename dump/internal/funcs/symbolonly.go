package funcs

import "symkit/dump/internal/symbols"

// SymbolOnly returns the functions that a symbol with a size describes but no DIE:
// gcc's thunks, bodies that gcc's identical code folding replaced, assembly whose
// assembler wrote lines only. The functions are clipped to the gaps between those of
// merged, which DIEs describe. A symbol-only function is written only if a line table
// has a row for it.
func SymbolOnly(merged []Func, syms symbols.Table, loadAddress uint64) (only []Func) {
	next := 0 // index in merged of the first function that ends above the symbol
	for i := 0; i < len(syms); {
		aliases := syms.Aliases(i)
		i += len(aliases)
		f := Func{Lo: aliases[0].Addr}
		for k := range aliases {
			if aliases[k].IsFunc() {
				f.Hi = max(f.Hi, aliases[k].End)
			}
		}

		// The next described function and the next symbol end the function.
		for next < len(merged) && merged[next].Hi <= f.Lo {
			next++
		}
		if next < len(merged) {
			f.Hi = min(f.Hi, merged[next].Lo)
		}
		last := len(only) - 1
		if last >= 0 {
			only[last].Hi = min(only[last].Hi, f.Lo)
		}
		if f.Lo >= loadAddress && f.Lo < f.Hi {
			only = append(only, f)
		}
	}
	return only
}
