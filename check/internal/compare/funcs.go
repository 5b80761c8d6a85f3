package compare

import (
	"bytes"
	"fmt"
	"slices"

	"symkit/check/internal/checks"
	"symkit/check/internal/collect"
	"symkit/check/internal/naming"
	"symkit/check/internal/symfile"
	"symkit/check/report"
	"symkit/internal/quantity"
)

// funcReport reports what units say about FUNC records.
type funcReport struct {
	*Input
	*Units
	c    *collect.Outcome
	used []bool          // by index of FUNC: a function begins there
	lost map[uint32]bool // functions with a missing FUNC
	// missing are the functions without a FUNC, if Input.Map is set.
	missing []report.Function
	// tables are the outcomes for the lines of FUNC records that only the symbol table knows.
	tables  outcomes
	noLines bool // the symbol file has no line records at all
	body    symfile.Body
}

// Funcs compares the FUNC records with the functions of all units, and reports the outcomes for their
// lines and inlined calls. The functions without a FUNC are returned if Input.Map is set.
func Funcs(in *Input, u *Units) (found *collect.Outcome, missing []report.Function) {
	r := &funcReport{Input: in, Units: u, c: collect.New(in.Report), used: make([]bool, len(in.Sym.Funcs)), lost: map[uint32]bool{}}
	c, s := r.c, in.Sym
	c.Begin(checks.Funcs, "functions")
	c.Begin(checks.Names, "functions")
	c.Begin(checks.Lines, "PCs")
	c.Begin(checks.Inlines, "PCs")
	r.checkCode()

	// In a symbol file without any lines or calls, none counts as missing.
	if s.Lines == 0 {
		r.noLines = true
		c.State(checks.Lines, report.NotInFile, "")
	}
	if s.Inlines == 0 {
		c.State(checks.Inlines, report.NotInFile, "")
	}
	c.Add(u.found)
	if u.state != "" {
		r.unverified()
	} else {
		r.functionsOf()
	}
	return c, r.missing
}

// checkCode checks that FUNC records lie in executable sections.
func (r *funcReport) checkCode() {
	r.c.Begin(checks.Code, "bytes")
	for i := range r.Sym.Funcs {
		f := &r.Sym.Funcs[i]
		r.c.Compared(checks.Code, f.End-f.Addr)
		r.Truth.Code.Outside(f.Addr+r.Bias, f.End+r.Bias, func(lo, hi uint64) {
			r.c.Wrong(collect.At(checks.Code, f.Line, f.Addr, "[%#x, %#x) is in no executable section", lo-r.Bias, hi-r.Bias), hi-lo)
		})
		if f.Params != 0 {
			r.c.Wrong(collect.At(checks.Funcs, f.Line, f.Addr, "a parameter size other than 0"), 1)
		}
	}
}

// unverified states of each check how many records the check could not verify, because the ELF file
// has nothing to compare with.
func (r *funcReport) unverified() {
	c, s := r.c, r.Sym
	for _, class := range []struct {
		check   string
		records int
	}{
		{checks.Funcs, len(s.Funcs)},
		{checks.Names, len(s.Funcs)},
		{checks.Lines, s.Lines},
		{checks.Inlines, s.Inlines},
	} {
		if class.records == 0 && class.check != checks.Funcs {
			continue
		}
		if r.state == report.NotVerified {
			c.Unread(class.check, uint64(class.records), r.note)
			c.State(class.check, r.state, "")
		} else {
			c.Unverified(class.check, uint64(class.records), "")
			c.State(class.check, r.state, r.note)
		}
	}
}

// functionsOf compares the functions that begin at one address together, address by address.
func (r *funcReport) functionsOf() {
	var bytes, all uint64
	for t := r.functions; len(t) > 0; {
		n := 1
		for n < len(t) && t[n].lo == t[0].lo {
			n++
		}

		end := t[n-1].hi
		if n < len(t) {
			end = min(end, t[n].lo)
		}
		if t[0].lo >= r.Bias {
			found := r.function(t[:n], end)
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
	r.c.Compared(checks.Funcs, uint64(r.count))
	if bytes > 0 {
		r.c.Note(checks.Funcs, fmt.Sprintf("%s functions of %s have no FUNC: %s, %s of all functions'",
			quantity.Number(len(r.lost)), quantity.Number(r.count), quantity.Bytes(bytes), quantity.Share(bytes, all)))
	}

	// Records that match no function come next, then the lines and calls of every record.
	r.unknownFuncs()
	r.reportUncarried()
	r.tables.sort()
	r.outcomes(checks.Lines, []*outcomes{&r.lines, &r.tables}, r.describeLine)
	r.outcomes(checks.Inlines, []*outcomes{&r.calls}, func(d *difference) string { return r.describeCall(d, r.source) })
}

// function compares the FUNC records at one address with same, the functions that begin there; the
// next function begins at or above end. It returns false if there is no FUNC.
func (r *funcReport) function(same []function, end uint64) bool {
	c, s := r.c, r.Sym
	lo := same[0].lo
	first, last := r.at(lo)
	if first == last {
		before := len(r.lost)
		for _, t := range same {
			r.lost[t.fn] = true
		}
		if r.Map {
			r.missing = append(r.missing, report.Function{Range: report.Range{Lo: lo - r.Bias, Hi: end - r.Bias}, Name: r.nameOf(same), Missing: true})
		}
		c.Missing(collect.At(checks.Funcs, 0, lo-r.Bias, "no FUNC at %#x: %s, %d bytes", lo-r.Bias, r.nameOf(same), end-lo), uint64(len(r.lost)-before))
		return false
	}

	// The size is right if it is that of any function here.
	for i := first; i < last; i++ {
		r.used[i] = true
		f := &s.Funcs[i]
		if got := f.End + r.Bias; got != end && !slices.ContainsFunc(same, func(t function) bool { return t.hi == got }) {
			c.Wrong(collect.At(checks.Funcs, f.Line, f.Addr, "%#x bytes: it has %#x in the %s", f.End-f.Addr, end-lo, r.source), 1)
		}
		r.checkName(f, same)
		r.checkMultiple(f, same)
	}
	return true
}

// checkName checks that a FUNC has the name of one of the functions at its address, or of a symbol
// there.
func (r *funcReport) checkName(f *symfile.Func, same []function) {
	name := string(r.Sym.Name(f))
	verdict, unread, plain := naming.Wrong, false, true
	for _, t := range same {
		verdict = max(verdict, r.Truth.Names.Judge(t.name, name))
		unread = unread || r.Truth.Names.Unread(t.name)
		plain = plain && !r.Truth.Names.HasLinkage(t.name)
	}

	// A symbol whose name cannot be read knows less than the functions, if these have linkage names.
	if verdict != naming.Right {
		ofSymbols := r.Truth.Symbols.Judge(r.Truth.Symbols.At(f.Addr+r.Bias), name)
		if ofSymbols == naming.Right || plain {
			verdict = max(verdict, ofSymbols)
		}
	}
	switch {
	case verdict == naming.Right:
		r.c.Compared(checks.Names, 1)
		return

	// A name that is not known, or not read, may be the one in the record.
	case unread:
		r.c.Unverified(checks.Names, 1, noteUnread)
		return
	case verdict == naming.Unverified:
		r.c.Unverified(checks.Names, 1, noteUnverified)
		return
	}

	r.c.Compared(checks.Names, 1)
	r.c.Wrong(collect.At(checks.Names, f.Line, f.Addr, "the function is %s", r.nameOf(same)), 1)
}

// nameOf returns the name of functions that begin at one address, for a message: of several names the
// first in the order of their texts, since the order of same depends on the goroutines.
func (r *funcReport) nameOf(same []function) string {
	first := r.Truth.Names.Text(same[0].name)
	for i := 1; i < len(same); i++ {
		if same[i].name != same[i-1].name {
			first = min(first, r.Truth.Names.Text(same[i].name))
		}
	}
	return first
}

// noteUnread is the reason for names in a supplementary file that dwarfinfo.Ref refers to.
const noteUnread = "names in a supplementary file (dwz) that was not found"

// noteUnverified is the reason for names that only the dumper's own code reads.
const noteUnverified = "names that no second reader reads rightly (docs/names.md)"

// checkMultiple checks that other functions, or symbols, share the address of a FUNC marked "m".
func (r *funcReport) checkMultiple(f *symfile.Func, same []function) {
	if !f.Multiple || r.Truth.Symbols.Shared(f.Addr+r.Bias) {
		return
	}
	if slices.ContainsFunc(same, func(t function) bool { return t.name != same[0].name }) {
		return
	}
	r.c.Wrong(collect.At(checks.Funcs, f.Line, f.Addr, "marked m, but no other function shares its address"), 1)
}

// unknownFuncs reports FUNC records at whose address no function begins. A record that begins where
// another of the same name ends is a part of a function too large for one record. A record with a
// function symbol is code that compilers give no DIE (gcc's thunks, folded bodies).
func (r *funcReport) unknownFuncs() {
	funcs := r.Sym.Funcs
	for i := range funcs {
		f := &funcs[i]
		if r.used[i] {
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
			r.c.Unread(checks.Funcs, 1, "")
			r.c.Unread(checks.Names, 1, "of functions that are not read")
			r.otherRecords(i, "of functions that are not read")
		} else {
			r.c.Wrong(collect.At(checks.Funcs, f.Line, f.Addr, "no function of the %s begins at %#x", r.source, f.Addr), 1)
		}
	}
}

// otherRecords gives FUNC i, which has no function in the debug information, the outcome for its
// lines from the line tables of units with code there.
func (r *funcReport) otherRecords(i int, of string) {
	f := &r.Sym.Funcs[i]
	o, ok := r.others.of(i)
	if ok {
		r.tables.add(funcOutcome{i, o})
	} else if f.Lines > 0 {
		r.c.Unverified(checks.Lines, 0, "lines "+of)
	}

	if f.Inlines > 0 {
		r.c.Unverified(checks.Inlines, 0, "inlined calls "+of)
	}
}

// uncompared counts the PCs with lines or inlined calls of a FUNC for which there was nothing to
// compare.
func (r *funcReport) uncompared(check string, f *symfile.Func) {
	if check == checks.Lines && f.Lines == 0 || check == checks.Inlines && f.Inlines == 0 {
		return
	}
	var n uint64
	r.Sym.Read(f, &r.body)
	if check == checks.Lines {
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
func (r *funcReport) outcomes(check string, all []*outcomes, describe func(*difference) string) {
	for i := range r.Sym.Funcs {
		o, ok := all[0].of(i)
		if !ok {
			o, ok = all[len(all)-1].of(i)
		}
		if !ok {
			r.uncompared(check, &r.Sym.Funcs[i])
			continue
		}
		r.c.Compared(check, o.compared-o.unread)
		if check == checks.Lines && r.noLines { // one loss, not a finding for each function
			r.c.More(check, 0, o.missing, 0)
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
			f := report.Finding{Check: check, Line: int(d.at), Addr: d.lo - r.Bias, What: describe(d)}
			if d.hasWant && r.Report.Places {
				f.Places = []report.Place{{Of: report.OfELF, File: r.Truth.Paths.Name(d.want.file), Line: d.want.line}}
			}
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
			r.c.More(check, wrong, missing, o.diffs.more)
		}
	}
}
