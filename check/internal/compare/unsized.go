package compare

import (
	"cmp"
	"slices"

	"symkit/check/internal/checks"
	"symkit/check/internal/collect"
	"symkit/check/internal/naming"
	"symkit/check/internal/pcs"
	"symkit/check/internal/truth/symtab"
)

// Assemblers write no sizes of functions unless the source has them, but a line for each
// instruction. A symbol without a size that a line sequence covers is a function: up to the next
// symbol, of code or of data, or to the end of the sequence or section.

// endsUnsized reports whether FUNC i, which symbols without a size account for, ends where its code
// does: at the next symbol, or at the end of its lines or section before, which is at want at the
// latest.
func (r *funcReport) endsUnsized(i int) (want uint64, ok bool) {
	f := &r.Sym.Funcs[i]
	lo, end := f.Addr+r.Bias, f.End+r.Bias
	want = r.Truth.Symbols.Next(lo)
	section := r.Truth.Code.Find(lo)
	if section < len(r.Truth.Code) {
		want = min(want, r.Truth.Code[section].Hi)
	}

	isDotted := func(s symtab.Symbol) bool { return s.Dotted }
	beforeFunc := i+1 < len(r.Sym.Funcs) && r.Sym.Funcs[i+1].Addr == f.End
	return want, end == want || end < want && (beforeFunc || r.ends[i] || slices.ContainsFunc(r.Truth.Symbols.At(end), isDotted))
}

// noCarriers returns the addresses of the symbols that no FUNC covers although their code has lines, in
// order. Each range goes up to the next FUNC or to the end of the lines.
func (r *funcReport) noCarriers() (out []pcs.Range) {
	if len(r.uncovered) == 0 {
		return nil
	}
	lines := pcs.Sorted[pcs.Range](r.uncovered)
	end := uint64(0) // the highest end of the lines that begin at the symbol or before it
	for i := range r.Truth.Symbols.All {
		s := &r.Truth.Symbols.All[i]
		for ; len(lines) > 0 && lines[0].Lo <= s.Addr; lines = lines[1:] {
			end = max(end, lines[0].Hi)
		}
		if end <= s.Addr || len(out) > 0 && out[len(out)-1].Lo == s.Addr || !r.Truth.Symbols.NeedsFunc(s) {
			continue
		}

		hi := end
		next := r.covered.Find(s.Addr - r.Bias)
		if next < len(r.covered) {
			hi = min(hi, r.covered[next].Lo+r.Bias)
		}
		if hi > s.Addr {
			out = append(out, pcs.Range{Lo: s.Addr, Hi: hi})
		}
	}
	return out
}

// reportUncarried reports the lines of symbols that no FUNC covers. Those of functions of the debug
// information, whose FUNC is missing, were reported.
func (r *funcReport) reportUncarried() {
	uncarried := r.noCarriers()
	if len(uncarried) == 0 {
		return
	}
	described := make(pcs.Set, 0, len(r.functions))
	for _, t := range r.functions {
		described = append(described, pcs.Range{Lo: t.lo, Hi: t.hi})
	}
	described = pcs.Union(described)

	inner := uint64(0) // the end of the functions with a size so far
	for _, x := range uncarried {
		addr := x.Lo
		same := r.Truth.Symbols.At(addr)
		sized := symtab.SizedEnd(same, true)
		label := !slices.ContainsFunc(same, func(s symtab.Symbol) bool { return s.Kind == symtab.Function })
		if label && addr < inner || described.Contains(addr) {
			continue
		}
		inner = max(inner, sized)
		sized = cmp.Or(sized, symtab.SizedEnd(same, false))

		end := min(r.Truth.Symbols.Next(addr), x.Hi)
		if sized > addr {
			end = min(end, sized)
		}
		r.c.Compared(checks.Lines, end-addr)
		if r.noLines {
			r.c.More(checks.Lines, 0, end-addr, 0)
			continue
		}
		r.c.Missing(collect.At(checks.Lines, 0, addr-r.Bias, "no FUNC has the lines of [%#x, %#x): %s", addr-r.Bias, end-r.Bias,
			r.Truth.Symbols.Names.Text(same[0].Name)), end-addr)
	}
}

// symbolFunc reports whether a function symbol accounts for FUNC i, and adds a finding if the
// record's size is not the symbol's. A symbol that reaches past the next FUNC is cut there.
func (r *funcReport) symbolFunc(i int) bool {
	f := &r.Sym.Funcs[i]
	next := ^uint64(0)
	if i+1 < len(r.Sym.Funcs) {
		next = r.Sym.Funcs[i+1].Addr
	}
	lo, highest := f.Addr+r.Bias, uint64(0)
	same := r.Truth.Symbols.At(lo)
	for _, s := range same {
		highest = max(highest, s.End)
	}
	verdict := r.Truth.Symbols.Judge(same, string(f.Name))
	if len(same) == 0 || verdict == naming.Wrong {
		return false
	}

	// Both the size and the name are verified by the symbol.
	r.c.Compared(checks.Funcs, 1)
	if verdict == naming.Right {
		r.c.Compared(checks.Names, 1)
	} else {
		r.c.Unverified(checks.Names, 1, noteUnverified)
	}
	end := f.End + r.Bias
	if highest <= lo {
		want, ok := r.endsUnsized(i)
		if !ok {
			r.c.Wrong(collect.At(checks.Funcs, f.Line, f.Addr, "%#x bytes: its code goes on to %#x", f.End-f.Addr, want-r.Bias), 1)
		}
		return true
	}
	hasEnd := end > lo && slices.ContainsFunc(same, func(s symtab.Symbol) bool { return s.End == end })
	if !hasEnd && !(f.End == next && end < highest) {
		r.c.Wrong(collect.At(checks.Funcs, f.Line, f.Addr, "%#x bytes: its symbol has %#x", f.End-f.Addr, highest-lo), 1)
	}
	return true
}
