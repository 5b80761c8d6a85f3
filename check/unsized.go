package check

import (
	"cmp"
	"slices"
	"sort"

	"symkit/check/internal/collect"
	"symkit/check/internal/naming"
	"symkit/check/internal/pcs"
	"symkit/check/internal/truth/dwarfinfo"
	"symkit/check/report"
)

// Assemblers write no sizes of functions unless the source has them, but a line for each
// instruction. A symbol without a size that a line sequence covers is a function: up to the next
// symbol, of code or of data, or to the end of the sequence or section.

// mappingMark is a mapping symbol: the code, or data, from addr on.
type mappingMark struct {
	addr uint64
	data bool
}

// order prepares the symbols for look-ups.
func (t *symbols) order() {
	slices.Sort(t.objects)

	// Of several mapping symbols at one address, which empty ranges leave, one for code is right.
	slices.SortFunc(t.marks, func(a, b mappingMark) int {
		switch {
		case a.addr != b.addr:
			return cmp.Compare(a.addr, b.addr)
		case a.data == b.data:
			return 0
		case a.data:
			return 1
		}
		return -1
	})
	t.marks = slices.CompactFunc(t.marks, func(a, b mappingMark) bool { return a.addr == b.addr })

	t.bounds = slices.Clone(t.objects)
	for i := range t.all {
		if s := &t.all[i]; s.kind != symbolAlias && !s.dotted {
			t.bounds = append(t.bounds, s.addr)
		}
	}
	slices.Sort(t.bounds)
}

// isData reports whether addr is that of data in code: of an object, or in the range of a mapping
// symbol for data.
func (t *symbols) isData(addr uint64) bool {
	_, object := slices.BinarySearch(t.objects, addr)
	after := sort.Search(len(t.marks), func(i int) bool { return t.marks[i].addr > addr })
	return object || after > 0 && t.marks[after-1].data
}

// next returns the first address above addr where another symbol of code or data begins.
func (t *symbols) next(addr uint64) uint64 {
	after := sort.Search(len(t.bounds), func(i int) bool { return t.bounds[i] > addr })
	if after == len(t.bounds) {
		return ^uint64(0)
	}
	return t.bounds[after]
}

// needsFunc reports whether a symbol whose code has lines needs a FUNC. A dotted label may be
// nasm's name of a local label: .loop after main is main.loop.
func (t *symbols) needsFunc(s *codeSymbol) bool {
	return s.kind == symbolFunction || s.kind == symbolLabel && !s.dotted && !t.isData(s.addr)
}

// endsUnsized reports whether FUNC i, which symbols without a size account for, ends where its code
// does: at the next symbol, or at the end of its lines or section before, which is at want at the
// latest.
func (r *replay) endsUnsized(i int) (want uint64, ok bool) {
	f := &r.s.Funcs[i]
	lo, end := f.Addr+r.bias, f.End+r.bias
	want = r.symbols.next(lo)
	section := r.code.Find(lo)
	if section < len(r.code) {
		want = min(want, r.code[section].Hi)
	}

	isDotted := func(s codeSymbol) bool { return s.dotted }
	beforeFunc := i+1 < len(r.s.Funcs) && r.s.Funcs[i+1].Addr == f.End
	return want, end == want || end < want && (beforeFunc || r.endsLines[i] || slices.ContainsFunc(r.symbols.at(end), isDotted))
}

// uncarried collects the code that has lines in t and is not all in FUNC records.
func (w *worker) uncarried(t *dwarfinfo.Lines) {
	r := w.r
	var code []pcs.Range
	for _, x := range t.Code() {
		x.Lo = max(x.Lo, r.bias)
		if x.Lo < x.Hi && r.covered.FirstOutside(x.Lo-r.bias, x.Hi-r.bias) < x.Hi-r.bias {
			code = append(code, x)
		}
	}
	r.mu.Lock()
	r.uncovered = append(r.uncovered, code...)
	r.mu.Unlock()
}

// noCarriers returns the addresses of the symbols that no FUNC covers although their code has lines, in
// order. Each range goes up to the next FUNC or to the end of the lines.
func (r *replay) noCarriers() (out []pcs.Range) {
	if len(r.uncovered) == 0 {
		return nil
	}
	lines := pcs.Sorted[pcs.Range](r.uncovered)
	end := uint64(0) // the highest end of the lines that begin at the symbol or before it
	for i := range r.symbols.all {
		s := &r.symbols.all[i]
		for ; len(lines) > 0 && lines[0].Lo <= s.addr; lines = lines[1:] {
			end = max(end, lines[0].Hi)
		}
		if end <= s.addr || len(out) > 0 && out[len(out)-1].Lo == s.addr || !r.symbols.needsFunc(s) {
			continue
		}

		hi := end
		next := r.covered.Find(s.addr - r.bias)
		if next < len(r.covered) {
			hi = min(hi, r.covered[next].Lo+r.bias)
		}
		if hi > s.addr {
			out = append(out, pcs.Range{Lo: s.addr, Hi: hi})
		}
	}
	return out
}

// reportUncarried reports the lines of symbols that no FUNC covers. Those of functions of the debug
// information, whose FUNC is missing, were reported.
func (r *replay) reportUncarried() {
	symbols := r.noCarriers()
	if len(symbols) == 0 {
		return
	}
	described := make(pcs.Set, 0, len(r.truth))
	for _, t := range r.truth {
		described = append(described, pcs.Range{Lo: t.lo, Hi: t.hi})
	}
	described = pcs.Union(described)

	inner := uint64(0) // the end of the functions with a size so far
	for _, x := range symbols {
		addr := x.Lo
		same := r.symbols.at(addr)
		sized := sizedEnd(same, true)
		label := !slices.ContainsFunc(same, func(s codeSymbol) bool { return s.kind == symbolFunction })
		if label && addr < inner || described.Contains(addr) {
			continue
		}
		inner = max(inner, sized)
		sized = cmp.Or(sized, sizedEnd(same, false))

		end := min(r.symbols.next(addr), x.Hi)
		if sized > addr {
			end = min(end, sized)
		}
		r.c.Compared(report.CheckLines, end-addr)
		if r.noLines {
			r.c.Update(report.CheckLines, func(k *report.Check) { k.Missing += end - addr })
			continue
		}
		r.c.Missing(collect.At(report.CheckLines, 0, addr-r.bias, "no FUNC has the lines of [%#x, %#x): %s", addr-r.bias, end-r.bias,
			r.symbols.names.Text(same[0].name)), end-addr)
	}
}

// sizedEnd returns the highest end of the functions, or else of the labels, among symbols at one address
// that have a size, or 0.
func sizedEnd(symbols []codeSymbol, function bool) (end uint64) {
	for i := range symbols {
		if s := &symbols[i]; s.function == function && s.end > s.addr {
			end = max(end, s.end)
		}
	}
	return end
}

// symbolFunc reports whether a function symbol accounts for FUNC i, and adds a finding if the
// record's size is not the symbol's. A symbol that reaches past the next FUNC is cut there.
func (r *replay) symbolFunc(i int) bool {
	f := &r.s.Funcs[i]
	next := ^uint64(0)
	if i+1 < len(r.s.Funcs) {
		next = r.s.Funcs[i+1].Addr
	}
	lo, highest := f.Addr+r.bias, uint64(0)
	same := r.symbols.at(lo)
	for _, s := range same {
		highest = max(highest, s.end)
	}
	verdict := r.symbols.judge(same, string(f.Name))
	if len(same) == 0 || verdict == naming.Wrong {
		return false
	}

	// Both the size and the name are verified by the symbol.
	r.c.Compared(report.CheckFuncs, 1)
	if verdict == naming.Right {
		r.c.Compared(report.CheckNames, 1)
	} else {
		r.c.Unverified(report.CheckNames, 1, noteUnverified)
	}
	end := f.End + r.bias
	if highest <= lo {
		want, ok := r.endsUnsized(i)
		if !ok {
			r.c.Wrong(collect.At(report.CheckFuncs, f.Line, f.Addr, "%#x bytes: its code goes on to %#x", f.End-f.Addr, want-r.bias), 1)
		}
		return true
	}
	hasEnd := end > lo && slices.ContainsFunc(same, func(s codeSymbol) bool { return s.end == end })
	if !hasEnd && !(f.End == next && end < highest) {
		r.c.Wrong(collect.At(report.CheckFuncs, f.Line, f.Addr, "%#x bytes: its symbol has %#x", f.End-f.Addr, highest-lo), 1)
	}
	return true
}
