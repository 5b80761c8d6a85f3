package check

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"symkit/check/internal/collect"
	"symkit/check/internal/naming"
	"symkit/check/internal/symfile"
	"symkit/check/report"
	"symkit/internal/quantity"
)

// checkCode checks that FUNC records lie in executable sections.
func (r *replay) checkCode() {
	c, s := r.c, r.s
	c.Begin(report.CheckCode, "bytes")
	for i := range s.Funcs {
		f := &s.Funcs[i]
		c.Compared(report.CheckCode, f.End-f.Addr)
		r.code.Outside(f.Addr+r.bias, f.End+r.bias, func(lo, hi uint64) {
			c.Wrong(collect.At(report.CheckCode, f.Line, f.Addr, "[%#x, %#x) is in no executable section", lo-r.bias, hi-r.bias), hi-lo)
		})
		if f.Params != 0 {
			c.Wrong(collect.At(report.CheckFuncs, f.Line, f.Addr, "a parameter size other than 0"), 1)
		}
	}
}

// reportFuncs compares the FUNC records with the functions of all units, and reports the outcomes
// for their lines and inlined calls.
func (r *replay) reportFuncs() {
	slices.SortFunc(r.truth, func(a, b truthFunc) int {
		return cmp.Or(cmp.Compare(a.lo, b.lo), cmp.Compare(a.hi, b.hi), cmp.Compare(a.name, b.name))
	})
	used := make([]bool, len(r.s.Funcs))
	lost := map[uint32]bool{} // functions with a missing FUNC

	// Functions that begin at the same address are compared together.
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
			found := r.function(t[:n], end, used, lost)
			for _, f := range t[:n] {
				all += f.hi - f.lo
				if !found {
					bytes += f.hi - f.lo
				}
			}
		}
		t = t[n:]
	}

	// One note has the sum of the bytes that the missing FUNC records cover.
	r.c.Compared(report.CheckFuncs, uint64(r.functionCount))
	if bytes > 0 {
		r.c.Update(report.CheckFuncs, func(k *report.Check) {
			k.Notes = append(k.Notes, fmt.Sprintf("%s functions of %s have no FUNC: %s, %s of all functions'",
				quantity.Number(len(lost)), quantity.Number(r.functionCount), quantity.Bytes(bytes), quantity.Share(bytes, all)))
		})
	}

	// Records that match no function come next, then the lines and calls of every record.
	r.unknownFuncs(used)
	r.reportUncarried()
	r.outcomes(report.CheckLines, r.lines, r.describeLine)
	r.outcomes(report.CheckInlines, r.inlines, r.describeCall)
}

// function compares the FUNC records at one address with same, the functions that begin there; the
// next function begins at or above end. It returns false if there is no FUNC.
func (r *replay) function(same []truthFunc, end uint64, used []bool, lost map[uint32]bool) bool {
	c, s := r.c, r.s
	lo := same[0].lo
	first, last := r.at(lo)
	if first == last {
		before := len(lost)
		for _, t := range same {
			lost[t.fn] = true
		}
		if r.opt.Map {
			r.noFunc = append(r.noFunc, report.Function{Range: report.Range{Lo: lo - r.bias, Hi: end - r.bias}, Name: r.nameOf(same), Missing: true})
		}
		c.Missing(collect.At(report.CheckFuncs, 0, lo-r.bias, "no FUNC at %#x: %s, %d bytes", lo-r.bias, r.nameOf(same), end-lo), uint64(len(lost)-before))
		return false
	}

	// The size is right if it is that of any function here.
	for i := first; i < last; i++ {
		used[i] = true
		f := &s.Funcs[i]
		if got := f.End + r.bias; got != end && !slices.ContainsFunc(same, func(t truthFunc) bool { return t.hi == got }) {
			c.Wrong(collect.At(report.CheckFuncs, f.Line, f.Addr, "%#x bytes: it has %#x in the %s", f.End-f.Addr, end-lo, r.source), 1)
		}
		r.checkName(f, same)
		r.checkMultiple(f, same)
	}
	return true
}

// checkName checks that a FUNC has the name of one of the functions at its address, or of a symbol
// there.
func (r *replay) checkName(f *symfile.Func, same []truthFunc) {
	name := string(r.s.Name(f))
	verdict, unread, plain := naming.Wrong, false, true
	for _, t := range same {
		verdict = max(verdict, r.names.Judge(t.name, name))
		unread = unread || r.names.Unread(t.name)
		plain = plain && !r.names.HasLinkage(t.name)
	}

	// A symbol whose name cannot be read knows less than the functions, if these have linkage names.
	if verdict != naming.Right {
		ofSymbols := r.symbols.judge(r.symbols.at(f.Addr+r.bias), name)
		if ofSymbols == naming.Right || plain {
			verdict = max(verdict, ofSymbols)
		}
	}
	switch {
	case verdict == naming.Right:
		r.c.Compared(report.CheckNames, 1)
		return

	// A name that is not known, or not read, may be the one in the record.
	case unread:
		r.c.Unverified(report.CheckNames, 1, noteUnread)
		return
	case verdict == naming.Unverified:
		r.c.Unverified(report.CheckNames, 1, noteUnverified)
		return
	}

	r.c.Compared(report.CheckNames, 1)
	r.c.Wrong(collect.At(report.CheckNames, f.Line, f.Addr, "the function is %s", r.nameOf(same)), 1)
}

// nameOf returns the name of functions that begin at one address, for a message: of several names the
// first in the order of their texts, since the order of same depends on the goroutines.
func (r *replay) nameOf(same []truthFunc) string {
	first := r.names.Text(same[0].name)
	for i := 1; i < len(same); i++ {
		if same[i].name != same[i-1].name {
			first = min(first, r.names.Text(same[i].name))
		}
	}
	return first
}

// noteUnread is the reason for names in a supplementary file that dwarfinfo.Ref refers to.
const noteUnread = "names in a supplementary file (dwz) that was not found"

// noteUnverified is the reason for names that only the dumper's own code reads.
const noteUnverified = "names that no second reader reads rightly (docs/names.md)"

// checkMultiple checks that other functions, or symbols, share the address of a FUNC marked "m".
func (r *replay) checkMultiple(f *symfile.Func, same []truthFunc) {
	if !f.Multiple || r.symbols.shared(f.Addr+r.bias) {
		return
	}
	if slices.ContainsFunc(same, func(t truthFunc) bool { return t.name != same[0].name }) {
		return
	}
	r.c.Wrong(collect.At(report.CheckFuncs, f.Line, f.Addr, "marked m, but no other function shares its address"), 1)
}

// unknownFuncs reports FUNC records at whose address no function begins. A record that begins where
// another of the same name ends is a part of a function too large for one record. A record with a
// function symbol is code that compilers give no DIE (gcc's thunks, folded bodies).
func (r *replay) unknownFuncs(used []bool) {
	funcs := r.s.Funcs
	for i := range funcs {
		f := &funcs[i]
		if used[i] {
			continue
		}
		if i > 0 {
			if p := &funcs[i-1]; p.End == f.Addr && p.End-p.Addr >= 1<<31 && bytes.Equal(p.Name, f.Name) {
				continue
			}
		}

		// The function may be in the symbol table, or in debug information that could not be read.
		if r.symbolFunc(i) {
			r.otherRecords(i, "of functions that only the symbol table knows")
		} else if r.holes {
			r.c.Unread(report.CheckFuncs, 1, "")
			r.c.Unread(report.CheckNames, 1, "of functions that are not read")
			r.otherRecords(i, "of functions that are not read")
		} else {
			r.c.Wrong(collect.At(report.CheckFuncs, f.Line, f.Addr, "no function of the %s begins at %#x", r.source, f.Addr), 1)
		}
	}
}

// otherRecords gives FUNC i, which has no function in the debug information, the outcome for its
// lines from the line tables of units with code there.
func (r *replay) otherRecords(i int, of string) {
	f := &r.s.Funcs[i]
	if r.otherLines[i].done {
		r.lines[i] = r.otherLines[i]
	} else if f.Lines > 0 {
		r.c.Unverified(report.CheckLines, 0, "lines "+of)
	}

	if f.Inlines > 0 {
		r.c.Unverified(report.CheckInlines, 0, "inlined calls "+of)
	}
}

// uncompared counts the PCs with lines or inlined calls of a FUNC for which there was nothing to
// compare.
func (r *replay) uncompared(check string, f *symfile.Func) {
	if check == report.CheckLines && f.Lines == 0 || check == report.CheckInlines && f.Inlines == 0 {
		return
	}
	var n uint64
	r.s.Read(f, &r.body)
	if check == report.CheckLines {
		for i := range r.body.Lines {
			n += uint64(r.body.Lines[i].Size)
		}
	} else {
		for _, x := range r.body.Ranges {
			n += uint64(x.Size)
		}
	}

	if n == 0 {
		return
	}

	// Truth that could not be read is a loss; truth that does not exist is none.
	if why, hidden := r.hidden[check]; hidden {
		r.c.Unread(check, n, why)
	} else {
		r.c.Unverified(check, n, "")
	}
}

// outcomes reports the outcome of each FUNC for one check; describe describes a difference in
// words.
func (r *replay) outcomes(check string, all []funcOutcome, describe func(*difference) string) {
	for i := range all {
		o := &all[i]
		if !o.done {
			r.uncompared(check, &r.s.Funcs[i])
			continue
		}
		r.c.Compared(check, o.compared-o.unread)
		if check == report.CheckLines && r.noLines { // one loss, not a finding for each function
			r.c.Update(check, func(k *report.Check) { k.Missing += o.missing })
			continue
		}
		if o.unread > o.unsure {
			r.c.Unverified(check, o.unread-o.unsure, noteUnread)
		}
		if o.unsure > 0 {
			r.c.Unverified(check, o.unsure, noteUnverified)
		}

		if o.diffs == nil {
			continue
		}
		wrong, missing := o.wrong-o.missing, o.missing // PCs of differences that are not kept
		for k := range o.diffs.list {
			d := &o.diffs.list[k]
			f := report.Finding{Check: check, Line: int(d.at), Addr: d.lo - r.bias, What: describe(d)}
			n := d.hi - d.lo
			if d.missing() {
				missing -= n
				r.c.Missing(f, n)
			} else {
				wrong -= n
				r.c.Wrong(f, n)
			}
		}

		// The differences that were not kept still count.
		if o.diffs.more > 0 {
			r.c.Update(check, func(k *report.Check) {
				k.Wrong, k.Missing, k.Findings = k.Wrong+wrong, k.Missing+missing, k.Findings+o.diffs.more
			})
		}
	}
}
