package check

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
)

// checkCode: FUNC records lie in executable sections.
func (r *replay) checkCode() {
	c, s := r.c, r.s
	c.begin(CheckCode, "bytes")
	for i := range s.funcs {
		f := &s.funcs[i]
		c.compared(CheckCode, f.end-f.addr)
		r.code.outside(f.addr+r.bias, f.end+r.bias, func(lo, hi uint64) {
			c.wrong(s.finding(CheckCode, f.line, f.addr, "[%#x, %#x) is in no executable section", lo-r.bias, hi-r.bias), hi-lo)
		})
		if f.params != 0 {
			c.wrong(s.finding(CheckFuncs, f.line, f.addr, "a parameter size other than 0"), 1)
		}
	}
}

// reportFuncs compares the FUNC records with the functions of all units, and
// reports what was found of their lines and inlined calls.
func (r *replay) reportFuncs() {
	slices.SortFunc(r.truth, func(a, b truthFunc) int {
		return cmp.Or(cmp.Compare(a.lo, b.lo), cmp.Compare(a.hi, b.hi), cmp.Compare(a.name, b.name))
	})
	aliases, ends := r.aliasNames()
	used := make([]bool, len(r.s.funcs))
	lost := map[uint32]bool{} // functions with a missing FUNC
	var bytes, all uint64
	for t := r.truth; len(t) > 0; {
		n := 1
		for n < len(t) && t[n].lo == t[0].lo {
			n++
		}
		end := t[n-1].hi
		if n < len(t) {
			end = min(end, t[n].lo)
		}
		if t[0].lo >= r.bias {
			found := r.function(t[:n], end, used, aliases, lost)
			for _, f := range t[:n] {
				all += f.hi - f.lo
				if !found {
					bytes += f.hi - f.lo
				}
			}
		}
		t = t[n:]
	}
	r.c.compared(CheckFuncs, uint64(r.functionCount))
	if bytes > 0 {
		r.c.update(CheckFuncs, func(k *Check) {
			k.Notes = append(k.Notes, fmt.Sprintf("%d functions of %d have no FUNC: %d bytes, %.1f %% of all functions'",
				len(lost), r.functionCount, bytes, 100*float64(bytes)/float64(all)))
		})
	}
	r.unknownFuncs(used, aliases, ends)
	r.outcomes(CheckLines, r.lines)
	r.outcomes(CheckInlines, r.inlines)
}

// funcRanges are the FUNC records' ranges as addresses of the ELF file.
func (s *symFile) funcRanges(bias uint64) ranges {
	all := make(ranges, 0, len(s.funcs))
	for i := range s.funcs {
		all = append(all, addrRange{s.funcs[i].addr + bias, s.funcs[i].end + bias})
	}
	return union(all)
}

// function compares the FUNC records at one address with the functions that
// begin there; the next one begins at or above end. It is false without a FUNC.
func (r *replay) function(same []truthFunc, end uint64, used []bool, aliases map[uint64][]uint32, lost map[uint32]bool) bool {
	c, s := r.c, r.s
	lo := same[0].lo
	at := r.at(lo)
	if len(at) == 0 {
		before := len(lost)
		for _, t := range same {
			lost[t.fn] = true
		}
		c.missing(s.finding(CheckFuncs, 0, lo-r.bias, "no FUNC at %#x: %s, %d bytes", lo-r.bias, r.names.text(same[0].name), end-lo), uint64(len(lost)-before))
		return false
	}
	for _, i := range at {
		used[i] = true
		f := &s.funcs[i]
		if got := f.end + r.bias; got != end && !slices.ContainsFunc(same, func(t truthFunc) bool { return t.hi == got }) {
			c.wrong(s.finding(CheckFuncs, f.line, f.addr, "%#x bytes: it has %#x in the DWARF", f.end-f.addr, end-lo), 1)
		}
		r.checkName(f, same, aliases[lo])
		r.checkMultiple(f, same, aliases[lo])
	}
	return true
}

// checkName: a FUNC has the name of one of the functions at its address, or
// of a symbol there.
func (r *replay) checkName(f *symFunc, same []truthFunc, aliases []uint32) {
	r.c.compared(CheckNames, 1)
	name := normalise(string(f.name))
	for _, t := range same {
		if r.names.accept(t.name, name) {
			return
		}
	}
	for _, id := range aliases {
		if r.names.accept(id, name) {
			return
		}
	}
	r.c.wrong(r.s.finding(CheckNames, f.line, f.addr, "the function is %s", r.names.text(same[0].name)), 1)
}

// checkMultiple: "m" says that other names share the address.
func (r *replay) checkMultiple(f *symFunc, same []truthFunc, aliases []uint32) {
	if !f.multiple {
		return
	}
	names := map[uint32]bool{}
	for _, t := range same {
		names[t.name] = true
	}
	for _, id := range aliases {
		names[id] = true
	}
	if len(names) < 2 {
		r.c.wrong(r.s.finding(CheckFuncs, f.line, f.addr, "marked m, but no other function shares its address"), 1)
	}
}

// unknownFuncs reports FUNC records at whose address no function begins. One
// that goes on where another of the same name ends is a piece of a function
// too large for one record. One that a function symbol bears out is code that
// compilers give no DIE (gcc's thunks, folded bodies); its lines are not
// verified.
func (r *replay) unknownFuncs(used []bool, aliases map[uint64][]uint32, ends map[uint64]uint64) {
	for k, i := range r.order {
		f := &r.s.funcs[i]
		if used[i] {
			continue
		}
		if k > 0 {
			if p := &r.s.funcs[r.order[k-1]]; p.end == f.addr && p.end-p.addr >= 1<<31 && bytes.Equal(p.name, f.name) {
				continue
			}
		}
		lo := f.addr + r.bias
		if slices.ContainsFunc(aliases[lo], func(id uint32) bool { return r.names.accept(id, normalise(string(f.name))) }) && f.end+r.bias <= ends[lo] {
			r.c.compared(CheckFuncs, 1)
			r.c.unverified(CheckLines, uint64(f.lines.len()), "lines of functions that only the symbol table knows")
			continue
		}
		if r.holes {
			r.c.unverified(CheckFuncs, 1, "")
			r.c.unverified(CheckLines, uint64(f.lines.len()), "")
			continue
		}
		r.c.wrong(r.s.finding(CheckFuncs, f.line, f.addr, "no function of the DWARF begins at %#x", f.addr), 1)
	}
}

// outcomes reports what was found in each FUNC.
func (r *replay) outcomes(check string, all []funcOutcome) {
	for i := range all {
		o := &all[i]
		r.c.compared(check, o.compared)
		kept := uint64(0)
		for _, d := range o.diffs {
			f := Finding{Check: check, Line: int(d.at), Addr: d.lo - r.bias, What: d.what}
			kept += d.hi - d.lo
			if d.missing {
				r.c.missing(f, d.hi-d.lo)
			} else {
				r.c.wrong(f, d.hi-d.lo)
			}
		}
		if more := o.wrong - kept; more > 0 {
			r.c.update(check, func(k *Check) { k.Wrong += more })
		}
	}
}
