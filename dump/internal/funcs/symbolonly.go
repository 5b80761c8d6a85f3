package funcs

import "symkit/dump/internal/symbols"

// SymbolOnly returns the functions that no DIE describes but a symbol with a size
// does: gcc's thunks, bodies that its identical code folding replaced, assembly
// whose assembler wrote lines only. They are clipped to the gaps that merged, the
// described functions, leave. Which of them are written is decided by whether a
// line table knows them.
func SymbolOnly(merged []Func, syms symbols.Table, loadAddress uint64) (only []Func) {
	next := 0 // the first described function that ends above the symbol
	for i := 0; i < len(syms); {
		aliases := syms.At(syms[i].Addr)
		i += len(aliases)
		f := Func{Lo: aliases[0].Addr}
		for k := range aliases {
			if aliases[k].IsFunc() {
				f.Hi = max(f.Hi, aliases[k].End)
			}
		}

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
