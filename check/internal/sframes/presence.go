package sframes

import (
	"debug/elf"
	"fmt"
	"maps"
	"slices"
	"strings"

	"symkit/check/internal/checks"
	"symkit/check/internal/pcs"
	"symkit/internal/quantity"
)

// presence looks for functions that only .sframe or only DWARF has, for functions with other bounds,
// and for the mark of signal trampolines.
func (v *verifier) presence() {
	described := append(pcs.SetOf(v.funcs), v.lost...)
	described = pcs.Union(described)
	if len(v.dwarf) == 0 {
		if n := described.Size(); n > 0 {
			v.c.Unverified(checks.SFrame, n, "no .eh_frame: rows are not compared")
		}
		return
	}

	unmarked := 0
	for i := range v.funcs {
		f := &v.funcs[i]
		if f.Lo == f.Hi {
			continue
		}
		k := pcs.After(v.dwarf, f.Lo)
		switch {
		case k == len(v.dwarf) || v.dwarf[k].Lo >= f.Hi:
			if !v.linkage(f.Lo) {
				v.add(onlySFrame, f.Lo, f.Hi-f.Lo, "FDE %d: %s, of %d bytes, is only in .sframe", f.index, v.title(f.Lo), f.Hi-f.Lo)
			}
			continue
		case !v.linkage(f.Lo) && !f.mask:
			v.bounds(f, &v.dwarf[k])
		}

		// Version 3 marks signal trampolines.
		switch want := v.dwarf[k].fde.CIE.Signal; {
		case want == f.signal:
		case v.chunk(f).Version < 3:
			unmarked++
		case want:
			v.add(signal, f.Lo, f.Hi-f.Lo, "FDE %d: %s is a signal trampoline for .eh_frame, and is not marked as one: unwinders look up the instruction before the interrupted one", f.index, v.title(f.Lo))
		default:
			v.add(signal, f.Lo, f.Hi-f.Lo, "FDE %d: %s is marked as a signal trampoline, and is none for .eh_frame", f.index, v.title(f.Lo))
		}
	}
	if unmarked > 0 {
		v.note("%s not marked, which versions before 3 cannot do", quantity.Count(uint64(unmarked), "signal trampoline is", "signal trampolines are"))
	}

	// A damaged header costs functions that .sframe has.
	if v.causes[damaged] == 0 || len(v.lost) > 0 {
		v.stubBounds(described)
		v.onlyDWARF(described)
	}
}

// stubBounds looks for linkage stubs that .sframe describes in part.
func (v *verifier) stubBounds(described pcs.Set) {
	for i := range v.dwarf {
		p := &v.dwarf[i]
		if !v.linkage(p.Lo) || !overlaps(described, p.Range) {
			continue
		}
		described.Outside(p.Lo, p.Hi, func(lo, hi uint64) {
			v.add(stale, lo, hi-lo, "[%#x, %#x), linkage stubs, is only in .eh_frame, which describes [%#x, %#x)", v.shown(lo), v.shown(hi), v.shown(p.Lo), v.shown(p.Hi))
		})
	}
}

// bounds compares where a function begins and ends. What overlaps has a finding already.
func (v *verifier) bounds(f *function, p *part) {
	begin, end := p.fde.Begin, p.fde.End
	if f.Lo == begin && f.Hi == end || f.cut {
		return
	}
	f.moved = true
	v.add(stale, f.Lo, f.Hi-f.Lo, "FDE %d: [%#x, %#x) is %s for .eh_frame, [%#x, %#x)", f.index, v.shown(f.Lo), v.shown(f.Hi), v.title(begin), v.shown(begin), v.shown(end))
}

// onlyDWARF looks for functions that .sframe lacks. Objects whose assembler wrote no SFrame lack all of
// their functions, and some rules cannot be expressed: these are notes.
func (v *verifier) onlyDWARF(described pcs.Set) {
	sections := codeSections(v.main)
	single := v.main.Type == elf.ET_REL && v.symbols().files <= 1 && len(v.funcs) > 0
	reasons := map[string]int{}
	without := 0

	// A run is functions side by side, in one section, that .sframe lacks.
	for i := 0; i < len(v.dwarf); {
		if described.FirstOutside(v.dwarf[i].Lo, v.dwarf[i].Hi) != v.dwarf[i].Lo || overlaps(described, v.dwarf[i].Range) {
			i++
			continue
		}
		k := pcs.After(sections, v.dwarf[i].Lo)
		n := i
		for n < len(v.dwarf) && !overlaps(described, v.dwarf[n].Range) && k < len(sections) && v.dwarf[n].Lo < sections[k].Hi {
			n++
		}
		n = max(n, i+1)
		within := k < len(sections) && i > 0 && v.dwarf[i-1].Lo >= sections[k].Lo && n < len(v.dwarf) && v.dwarf[n].Lo < sections[k].Hi
		lone := within && n-i <= longestRun && !holds(v.dwarf[i:n], v.main.Entry)
		for ; i < n; i++ {
			p := &v.dwarf[i]
			why := v.inexpressible(p)
			switch {
			case v.linkage(p.Lo):
				reasons["linkage stubs"]++
			case why != "":
				reasons[why]++
			case single, lone:
				v.add(onlyDWARF, p.Lo, p.Hi-p.Lo, "%s, of %d bytes, is only in .eh_frame, and SFrame could describe it", v.title(p.Lo), p.Hi-p.Lo)
			default:
				without++
			}
		}
	}

	// Why the rest may be missing.
	if without > 0 {
		reasons["of objects without SFrame, as it seems"] = without
	}
	var texts []string
	all := 0
	for _, why := range slices.Sorted(maps.Keys(reasons)) {
		all += reasons[why]
		texts = append(texts, fmt.Sprintf("%s %s", quantity.Number(uint64(reasons[why])), why))
	}
	if all > 0 {
		v.note("%s only in .eh_frame: %s", quantity.Count(uint64(all), "function is", "functions are"), strings.Join(texts, ", "))
	}
}

// longestRun is the most functions side by side that the linker may have lost: more are those of an
// object without SFrame.
const longestRun = 2

// overlaps reports whether a part of r is in set.
func overlaps(set pcs.Set, r pcs.Range) bool {
	i := set.Find(r.Lo)
	return i < len(set) && set[i].Lo < r.Hi
}

// holds reports whether an address, that of the entry point, is in one of the parts: the start-up code
// of the C library is of an object of its own.
func holds(parts []part, addr uint64) bool {
	return slices.ContainsFunc(parts, func(p part) bool { return p.Lo <= addr && addr < p.Hi })
}
