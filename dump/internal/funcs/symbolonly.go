package funcs

import (
	"bytes"
	"slices"

	"symkit/dump/internal/symbols"
	"symkit/internal/dwarfx"
)

// SymbolOnly returns the functions that a symbol describes but no DIE: gcc's thunks, bodies
// that gcc's identical code folding replaced, assembly whose assembler wrote lines only. The
// functions are clipped to the gaps between those of merged, which DIEs describe. A
// symbol-only function is written only if a line table has a row for it.
//
// Assemblers write no sizes unless the source has them: nasm's and yasm's sources mostly have
// none. A symbol without a size is a function up to the next symbol, of code or of data, or to
// the end of its section; its line sequence may end it before (Func.Open).
func SymbolOnly(merged []Func, syms symbols.Table, data []uint64, code dwarfx.CodeMap, loadAddress uint64) (only []Func) {
	next := 0                // index in merged of the first function that ends above the symbol
	var parent symbols.Table // the symbols at the last address with one that is no local label of nasm
	for i := 0; i < len(syms); {
		aliases := syms.Aliases(i)
		i += len(aliases)
		if isLocalLabel(aliases, parent) {
			continue
		}
		parent = aliases
		f := Func{Lo: aliases[0].Addr}
		f.Hi, f.Open = end(aliases, data, code)

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

// end returns where the function of aliases ends by its size: that of a function, else that of
// a label. open is set if no symbol has a size; then end is at the next datum or the section's
// end. It is the function's beginning if the symbols are of data.
func end(aliases symbols.Table, data []uint64, code dwarfx.CodeMap) (hi uint64, open bool) {
	lo := aliases[0].Addr
	hi = lo
	labels := lo
	for i := range aliases {
		if aliases[i].IsFunc() {
			hi = max(hi, aliases[i].End)
		}
		labels = max(labels, aliases[i].End)
	}
	at, isData := slices.BinarySearch(data, lo)
	switch {
	case hi > lo:
		return hi, false
	case isData && !aliases[0].IsFunc():
		return lo, false
	case labels > lo:
		return labels, false
	}

	// Data has symbols of its own.
	hi = code.EndOf(lo)
	for at < len(data) && data[at] == lo {
		at++
	}
	if at < len(data) {
		hi = min(hi, data[at])
	}
	return hi, true
}

// isLocalLabel reports whether aliases are local labels of nasm in the code of parent: the
// source's .loop after main is the symbol main.loop.
func isLocalLabel(aliases, parent symbols.Table) bool {
	const most = 8 // symbols at one address; a hostile file may have a million
	if len(aliases) > most {
		return false
	}
	parent = parent[:min(len(parent), most)]
	for i := range aliases {
		label := &aliases[i]
		isOwn := func(s symbols.Symbol) bool {
			n := len(s.Name)
			return len(label.Name) > n && label.Name[n] == '.' && bytes.HasPrefix(label.Name, s.Name)
		}
		if !label.IsLocalLabel() || !slices.ContainsFunc(parent, isOwn) {
			return false
		}
	}
	return true
}
