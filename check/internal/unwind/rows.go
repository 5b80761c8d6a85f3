package unwind

import (
	"debug/elf"
	"fmt"
	"slices"

	"symkit/cfi"
	"symkit/check/internal/checks"
	"symkit/check/internal/collect"
	"symkit/check/internal/eval"
	"symkit/check/internal/pcs"
)

// part compares the rows of one part of the code.
func (w *unwindWorker) part(p *part) {
	pos := p.Lo
	for row, err := range p.fde.Rows() {
		if err != nil {
			w.unsure[fmt.Sprintf("damaged FDE: %v", err)] += p.Hi - pos
			return
		}

		row.Begin, row.End = max(row.Begin, p.Lo), min(row.End, p.Hi)
		if row.Begin < row.End {
			w.row(row, w.arch.ReturnColumn(p.fde.CIE.RA, row))
			pos = row.End
		}
	}
}

// row compares one row with all records in force at its PCs.
func (w *unwindWorker) row(row *cfi.Row, ra cfi.Reg) {
	w.memo.row(w, row, ra)
	w.segments(row.Begin, row.End, func(seg segment) {
		n := seg.hi - seg.lo
		w.compared += n
		if seg.at != 0 && w.memo.right() {
			return
		}

		// If STACK CFI may not be able to express the row, the record may have SFrame's row
		// instead.
		outcome := w.judge(seg, row, ra)
		switch {
		case outcome.fault == "":
			if seg.at != 0 {
				w.memo.keep()
			}
		case outcome.inexpressible:
			if alt, ok := w.sframeAt(seg); ok && w.judge(seg, alt.row, alt.ra).fault == "" {
				return
			}
			w.unsure[outcome.fault] += n
		default:
			w.report(seg, outcome.fault)
		}
	})
}

// report adds a finding for the PCs of seg.
func (w *unwindWorker) report(seg segment, what string) {
	r := w.r
	lo, hi := seg.lo-r.Bias, seg.hi-r.Bias
	f := collect.At(checks.CFI, seg.at, lo, "at [%#x, %#x): %s", lo, hi, what)
	if seg.at == 0 {
		w.found.Missing(f, seg.hi-seg.lo)
	} else {
		w.found.Wrong(f, seg.hi-seg.lo)
	}
}

// segments calls f for each segment of [lo, hi), with the rules in force there in w.state. The rows
// of a function come in order, so that a call mostly continues where the last one has ended.
func (w *unwindWorker) segments(lo, hi uint64, f func(segment)) {
	s, bias := w.r.Sym, w.r.Bias
	next := w.next
	w.next = position{}
	if next.at == 0 || next.pc != lo {
		next = position{init: pcs.After(w.inits, lo-bias)}
		w.state, w.memo.state = nil, 0
	}
	for k, pos := next.init, lo; pos < hi; k++ {
		if next.at == 0 {
			w.state, w.memo.state = nil, 0
		}
		if k == len(w.inits) || w.inits[k].Addr+bias >= hi {
			f(segment{pos, hi, 0})
			return
		}

		// No rules are in force before the next INIT.
		in := &w.inits[k]
		if begin := in.Addr + bias; begin > pos {
			f(segment{pos, begin, 0})
			pos = begin
		}
		if next.at == 0 {
			w.apply(in.Rules)
			next.at = in.At
		}

		// Each later record changes some rules.
		end := min(hi, in.End+bias)
		for _, d := range s.DeltasOf(in)[next.deltas:] {
			if d.Addr+bias >= end {
				break
			}
			if d.Addr+bias > pos {
				f(segment{pos, d.Addr + bias, next.at})
				pos = d.Addr + bias
			}
			w.apply(d.Rules)
			next.at = d.At
			next.deltas++
		}

		f(segment{pos, end, next.at})
		pos = end
		if end == hi && end < in.End+bias {
			w.next = position{hi, k, next.deltas, next.at}
		}
		next = position{}
	}
}

// apply puts the rules of a record into force.
func (w *unwindWorker) apply(text uint32) { w.state = w.memo.apply(w.state, text, w.rules[text]) }

// judge compares row with the rules in force over seg, at its first and last PC or, where a rule
// depends on the PC, at every PC.
func (w *unwindWorker) judge(seg segment, row *cfi.Row, ra cfi.Reg) verdict {
	if seg.at == 0 {
		return w.gap(row, ra)
	}
	last := seg.hi - 1
	if v := w.judgeAt(seg.lo, row, ra); v.fault != "" || last == seg.lo {
		return v
	}

	if w.dependsOnPC(row) {
		for pc := seg.lo + 1; pc < last && pc-seg.lo < eval.MaxPCs; pc++ {
			if v := w.judgeAt(pc, row, ra); v.fault != "" {
				return v
			}
		}
	}
	return w.judgeAt(last, row, ra)
}

// gap judges PCs without records. They are right where STACK CFI cannot express the row.
func (w *unwindWorker) gap(row *cfi.Row, ra cfi.Reg) verdict {
	rule := row.Rule(ra)
	switch {
	case row.CFA.Kind == cfi.KindNone:
		return verdict{}
	case rule.Kind == cfi.KindNone && !w.arch.LinkRegister:
		return verdict{}
	case w.expressible(row, row.CFA) && w.expressible(row, rule):
		return verdict{fault: "no STACK CFI: the table says CFA = " + w.arch.Describe(row.CFA, eval.RegCFA)}
	}
	return verdict{fault: "no STACK CFI, where the CFA or return address is an expression", inexpressible: true}
}

// expressible reports whether the postfix of STACK CFI can certainly express a rule of row.
func (w *unwindWorker) expressible(row *cfi.Row, rule cfi.Rule) bool {
	switch rule.Kind {
	case cfi.KindReg, cfi.KindMemReg:
		return w.arch.RegName(rule.Reg) != ""
	case cfi.KindExpr, cfi.KindMemExpr:
		ok, _ := eval.Plain(w.arch, row.Expr(rule), w.machines[0].BigEndian)
		return ok
	}
	return true
}

// dependsOnPC reports whether a rule in force or a rule of row reads the program counter.
func (w *unwindWorker) dependsOnPC(row *cfi.Row) bool {
	return eval.UsesPC(w.state) || w.machines[0].RuleUsesPC(row, row.CFA) ||
		slices.ContainsFunc(row.Regs, func(r cfi.RegRule) bool { return w.machines[0].RuleUsesPC(row, r.Rule) })
}

// unnamed reports whether STACK CFI has no name for a register, such as the registers of ARM that
// are two words.
func (w *unwindWorker) unnamed(r cfi.Reg) bool {
	return w.arch.RegName(r) == "" || w.r.Image.Main.Machine == elf.EM_ARM && r >= 256
}
