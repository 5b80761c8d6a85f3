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
	aliases := r.aliasNames()
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
	r.unknownFuncs(used, aliases)
	r.outcomes(CheckLines, r.lines, r.sayLine)
	r.outcomes(CheckInlines, r.inlines, r.sayCall)
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
func (r *replay) function(same []truthFunc, end uint64, used []bool, aliases *aliasTable, lost map[uint32]bool) bool {
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
			c.wrong(s.finding(CheckFuncs, f.line, f.addr, "%#x bytes: it has %#x in the %s", f.end-f.addr, end-lo, r.source), 1)
		}
		r.checkName(f, same, aliases.names[lo])
		r.checkMultiple(f, same)
	}
	return true
}

// checkName: a FUNC has the name of one of the functions at its address, or
// of a symbol there.
func (r *replay) checkName(f *symFunc, same []truthFunc, aliases []uint32) {
	name := normalise(string(f.name))
	accepted := func(id uint32) bool { return r.names.accept(id, name) }
	ofFunction := func(t truthFunc) bool { return accepted(t.name) }
	unread := func(t truthFunc) bool { return r.names.unread(t.name) }
	switch {
	case slices.ContainsFunc(same, ofFunction) || slices.ContainsFunc(aliases, accepted):
		r.c.compared(CheckNames, 1)
		return
	case slices.ContainsFunc(same, unread):
		r.c.unverified(CheckNames, 1, noteUnread)
		return
	}
	r.c.compared(CheckNames, 1)
	r.c.wrong(r.s.finding(CheckNames, f.line, f.addr, "the function is %s", r.names.text(same[0].name)), 1)
}

// noteUnread: see dieRef.
const noteUnread = "names in a supplementary file (dwz) that was not found"

// checkMultiple: "m" says that other functions, or symbols, share the address.
func (r *replay) checkMultiple(f *symFunc, same []truthFunc) {
	if !f.multiple || r.entries[f.addr+r.bias] > 1 {
		return
	}
	for _, t := range same[1:] {
		if t.name != same[0].name {
			return
		}
	}
	r.c.wrong(r.s.finding(CheckFuncs, f.line, f.addr, "marked m, but no other function shares its address"), 1)
}

// unknownFuncs reports FUNC records at whose address no function begins. One
// that goes on where another of the same name ends is a piece of a function
// too large for one record. One that a function symbol bears out is code that
// compilers give no DIE (gcc's thunks, folded bodies).
func (r *replay) unknownFuncs(used []bool, aliases *aliasTable) {
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
		next := ^uint64(0)
		if k+1 < len(r.order) {
			next = r.s.funcs[r.order[k+1]].addr
		}
		if r.symbolFunc(f, next, aliases) {
			r.otherRecords(i, "of functions that only the symbol table knows")
		} else if r.holes {
			r.c.unread(CheckFuncs, 1, "")
			r.c.unread(CheckNames, 1, "of functions that are not read")
			r.otherRecords(i, "of functions that are not read")
		} else {
			r.c.wrong(r.s.finding(CheckFuncs, f.line, f.addr, "no function of the %s begins at %#x", r.source, f.addr), 1)
		}
	}
}

// symbolFunc tells whether a function symbol bears f out, and reports a size
// other than the symbol's; f is cut where the next FUNC begins.
func (r *replay) symbolFunc(f *symFunc, next uint64, aliases *aliasTable) bool {
	lo := f.addr + r.bias
	name := normalise(string(f.name))
	ends := aliases.ends[lo]
	if len(ends) == 0 || !slices.ContainsFunc(aliases.names[lo], func(id uint32) bool { return r.names.accept(id, name) }) {
		return false
	}
	r.c.compared(CheckFuncs, 1)
	r.c.compared(CheckNames, 1)
	end := f.end + r.bias
	if !slices.Contains(ends, end) && !(f.end == next && end < slices.Max(ends)) {
		r.c.wrong(r.s.finding(CheckFuncs, f.line, f.addr, "%#x bytes: its symbol has %#x", f.end-f.addr, slices.Max(ends)-lo), 1)
	}
	return true
}

// otherRecords takes what is known of the lines of FUNC i, for which there is no
// function, from the line tables of units with code there.
func (r *replay) otherRecords(i uint32, of string) {
	f := &r.s.funcs[i]
	if r.otherLines[i].done {
		r.lines[i] = r.otherLines[i]
	} else if f.lines.len() > 0 {
		r.c.unverified(CheckLines, 0, "lines "+of)
	}
	if f.inlines.len() > 0 {
		r.c.unverified(CheckInlines, 0, "inlined calls "+of)
	}
}

// uncompared counts the PCs with lines or inlined calls of a FUNC that nothing was compared with.
func (r *replay) uncompared(check string, f *symFunc) {
	var n uint64
	if check == CheckLines {
		for i := f.lines.from; i < f.lines.to; i++ {
			n += r.s.lines[i].end() - r.s.lines[i].addr
		}
	} else {
		for i := f.inlines.from; i < f.inlines.to; i++ {
			in := &r.s.inlines[i]
			for _, x := range r.s.ranges[in.ranges.from:in.ranges.to] {
				n += uint64(x.Size)
			}
		}
	}
	if n == 0 {
		return
	}
	if why, hidden := r.hidden[check]; hidden {
		r.c.unread(check, n, why)
	} else {
		r.c.unverified(check, n, "")
	}
}

// outcomes reports what was found in each FUNC; say is a difference in words.
func (r *replay) outcomes(check string, all []funcOutcome, say func(*difference) string) {
	for i := range all {
		o := &all[i]
		if !o.done {
			r.uncompared(check, &r.s.funcs[i])
			continue
		}
		r.c.compared(check, o.compared-o.unread)
		if check == CheckLines && r.noLines { // one loss, not a finding for each function
			r.c.update(check, func(k *Check) { k.Missing += o.missing })
			continue
		}
		if o.unread > 0 {
			r.c.unverified(check, o.unread, noteUnread)
		}
		wrong, missing := o.wrong-o.missing, o.missing // PCs of differences that are not kept
		for k := range o.diffs {
			d := &o.diffs[k]
			f := Finding{Check: check, Line: int(d.at), Addr: d.lo - r.bias, What: say(d)}
			if n := d.hi - d.lo; d.missing() {
				missing -= n
				r.c.missing(f, n)
			} else {
				wrong -= n
				r.c.wrong(f, n)
			}
		}
		if o.more > 0 {
			r.c.update(check, func(k *Check) { k.Wrong, k.Missing, k.Findings = k.Wrong+wrong, k.Missing+missing, k.Findings+o.more })
		}
	}
}
