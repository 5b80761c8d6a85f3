package emit

import "strconv"

// Rule is one rule of STACK CFI records: the expression for Reg in the caller. Expr is
// postfix, never empty.
type Rule struct {
	Reg  []byte // without the colon: ".cfa", ".ra", "$rbx", "x19"
	Expr []byte
}

// CFI appends the unwind rules for addr to dst: those of the INIT record that covers
// addr, replaced by those of the STACK CFI records after it, at or below addr, in file
// order. The range is that of the INIT record. A record that is not "REG: EXPRESSION"
// pairs is skipped. CFI does not allocate if dst has the capacity.
func (x *Index) CFI(addr uint64, dst []Rule) (Range, []Rule, bool) {
	off, ok := x.inits.covering(addr, func(off uint64) bool {
		_, r, ok := x.initAt(off)
		return ok && addr-r.Addr < uint64(r.Size)
	})
	if !ok {
		return Range{}, dst, false
	}

	// The rules of the INIT record come first.
	l, code, _ := x.initAt(off)
	start := len(dst)
	dst = x.addRules(dst, start, off, l.text())

	// The STACK CFI records up to any other record belong to the INIT record; blank lines
	// are skipped.
	read := 0
	defer func() { x.count(read) }()
	for at := x.after(off); at < uint64(len(x.data)); at = x.after(at) {
		read += lineBytes + len(x.line(at))
		if read > maxBlock {
			x.markBad(at)
			break
		}
		l := loose{rest: x.line(at)}
		w := l.word()
		if w == nil {
			continue
		}
		if string(w) != "STACK" || string(l.word()) != "CFI" {
			break
		}
		if next := l; string(next.word()) == "INIT" {
			break
		}
		switch a := l.hex(); {
		case l.bad:
			x.markBad(at)
		case a >= code.Addr && a <= addr:
			text := l.text()
			dst = x.addRules(dst, start, at, text)
			read += (len(dst) - start) * len(text) / ruleBytes
		}
	}
	return code, dst, true
}

// Code returns the addresses from the first FUNC, PUBLIC or STACK CFI INIT record to the end of the last one, of which
// FUNC and PUBLIC records have no more than their addresses here. Both are 0 without such records.
func (x *Index) Code() (lo, hi uint64) {
	lo = ^uint64(0)
	for _, t := range []table{x.funcs, x.publics, x.inits} {
		if len(t) > 0 {
			lo, hi = min(lo, t[0].key), max(hi, t[len(t)-1].key+1)
		}
	}
	if len(x.inits) > 0 {
		_, code, _ := x.initAt(x.inits[len(x.inits)-1].off)
		hi = max(hi, code.Addr+uint64(code.Size))
	}
	return min(lo, hi), hi
}

// endsAt reports whether the rules at addr say that there is no caller: the return
// address is a constant in the first page.
func (x *Index) endsAt(addr uint64) bool {
	_, rules, _ := x.CFI(addr, nil)
	for _, r := range rules {
		if string(r.Reg) == ".ra" {
			_, err := strconv.ParseUint(string(r.Expr), 10, 12)
			return err == nil
		}
	}
	return false
}

// initAt parses the STACK CFI INIT record at off up to its rules.
func (x *Index) initAt(off uint64) (l loose, code Range, ok bool) {
	l = loose{rest: x.record(off)}
	l.word()
	l.word()
	l.word()
	code = Range{l.hex(), l.size()}
	if l.bad {
		x.markBad(off)
	}
	return l, code, !l.bad
}

// maxRules bounds the rules in force at an address: more registers than any
// machine has.
const maxRules = 256

// ruleBytes is the size of the shortest rules in bytes: what each is compared with grows with
// the rules in force.
const ruleBytes = 8

// addRules adds the rules of one record to dst[start:]. A later rule of a register
// replaces an earlier one.
func (x *Index) addRules(dst []Rule, start int, off uint64, text []byte) []Rule {
	dst, ok := mergeRules(dst, start, text)
	if !ok {
		x.markBad(off)
	}
	return dst
}

// MergeRules adds the rules of a STACK CFI record to dst, the rules in force before the
// record: a rule replaces that of its register, other rules are appended. The result is
// dst and false if text is not "REG: EXPRESSION" pairs. The rules alias text.
func MergeRules(dst []Rule, text []byte) ([]Rule, bool) { return mergeRules(dst, 0, text) }

// mergeRules is MergeRules for the rules in dst[start:].
func mergeRules(dst []Rule, start int, text []byte) ([]Rule, bool) {
	if !wellFormed(text) {
		return dst, false
	}

	for len(text) > 0 {
		var r Rule
		r, text = nextRule(text)

		// At most maxRules rules are in force, so a linear search is enough.
		known := false
		for i := start; i < len(dst) && !known; i++ {
			if string(dst[i].Reg) == string(r.Reg) {
				dst[i], known = r, true
			}
		}
		if !known && len(dst)-start < maxRules {
			dst = append(dst, r)
		}
	}
	return dst, true
}

// wellFormed reports whether text is a list of rules: it begins with a name, and each
// name is followed by an expression.
func wellFormed(text []byte) bool {
	l, needExpr, any := loose{rest: text}, false, false
	for w := l.word(); w != nil; w = l.word() {
		isName := w[len(w)-1] == ':'
		if isName && (needExpr || len(w) == 1) || !isName && !any {
			return false
		}
		needExpr, any = isName, true
	}
	return any && !needExpr
}

// nextRule splits the first rule off well-formed text.
func nextRule(text []byte) (r Rule, rest []byte) {
	l := loose{rest: text}
	name := l.word()
	r.Reg = name[: len(name)-1 : len(name)-1]
	l.skip()
	expr := l.rest

	// The expression ends before the next name, or at the end of the text.
	for {
		before := l.rest
		w := l.word()
		if w == nil || w[len(w)-1] == ':' {
			l.skip()
			expr = expr[:len(expr)-len(before)]
			if w != nil {
				rest = before
			}
			t := loose{rest: expr}
			r.Expr = t.text()
			return r, rest
		}
	}
}

// Win finds the STACK WIN record that covers addr: one of type 4 (frame data), else one
// of type 0 (FPO).
func (x *Index) Win(addr uint64) (StackWin, bool) {
	for _, typ := range [...]uint32{4, 0} {
		off, ok := x.wins.covering(addr, func(off uint64) bool {
			w, ok := x.winAt(off)
			return ok && w.Type == typ && addr-w.Addr < uint64(w.CodeSize)
		})
		if ok {
			w, _ := x.winAt(off)
			return w, true
		}
	}
	return StackWin{}, false
}

// winAt parses the STACK WIN record at off.
func (x *Index) winAt(off uint64) (StackWin, bool) {
	l := loose{rest: x.record(off)}
	l.word()
	l.word()
	w := StackWin{Type: l.size(), Addr: l.hex(), CodeSize: l.size(),
		PrologueSize: l.size(), EpilogueSize: l.size(), ParamSize: l.size(),
		SavedRegsSize: l.size(), LocalSize: l.size(), MaxStackSize: l.size()}
	switch hasProgram := l.hex(); {
	case hasProgram != 0:
		w.Program = l.text()
		if len(w.Program) == 0 {
			l.fail()
		}
	default:
		w.AllocatesBP = l.hex() != 0
	}
	if l.bad {
		x.markBad(off)
	}
	return w, !l.bad
}
