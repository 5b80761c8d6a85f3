//go:build oracle

package gimli

import (
	"slices"

	"symkit/test/oracle"
)

// compare evaluates the rules in force for s, a part of r: once if neither side reads
// the PC, else at every PC.
func (w *sweep) compare(r *rowValues, s oracle.Span) {
	perPC := len(r.vals) != seeds
	w.pcs += s.Hi - s.Lo
	for pc := s.Lo; pc < s.Hi; pc++ {
		vals := r.vals[:seeds]
		if perPC {
			vals = r.vals[(pc-r.Lo)*seeds:][:seeds]
		}
		for i := range vals {
			w.seed(&vals[i], pc)
		}
		if !perPC && !w.reads {
			return
		}
	}
}

// seed compares the values at pc.
func (w *sweep) seed(v *stateValues, pc uint64) {
	w.state.seed, w.state.pc, w.state.wide = v.seed, pc, false
	w.all(v)
	if w.arch.WordSize == 4 {
		w.state.wide = true
		w.all(v)
	}
}

func (w *sweep) all(v *stateValues) {
	s := &w.state
	cfa, ok := w.cfa.eval(s, nil)
	w.same(v, ".cfa", cfa, ok, regValue{value: v.cfa, failed: v.failed})
	if v.failed {
		return
	}

	// Without a rule, the return address is still in the link register.
	ra := regValue{reg: w.fde.ra, value: s.register(w.fde.ra)}
	known := 0
	for _, want := range v.regs {
		if want.reg == w.fde.ra {
			ra = want
			continue
		}
		name := w.arch.RegName(want.reg)
		p := w.regs[want.reg]
		switch {
		case name == "":
			continue // counted in row
		case p == nil:
			w.wrongs.Add("%#x: no rule for %s, FDE at offset %#x", v.pc, name, w.fde.offset)
			continue
		}
		known++
		got, ok := p.eval(s, &cfa)
		w.same(v, name, got, ok, want)
	}

	got, ok := w.ra.eval(s, &cfa)
	if ra.undefined {
		ra = regValue{value: uint64(w.arch.End)}
		ok = ok && len(w.ra.tokens) == 1 && w.ra.tokens[0].op == tokenNumber
	}

	w.same(v, ".ra", got, ok, ra)
	if w.arch.SPOffset != 0 && w.regs[w.arch.SP] == nil {
		w.wrongs.Add("%#x: no rule for the stack pointer, which is not the CFA", v.pc)
	}
	if known < len(w.regs) {
		w.others(v, cfa)
	}
}

// others compares our rules for registers that the row has no rule for: they can only
// be unchanged, or, for the stack pointer, have the value that the ABI gives it.
func (w *sweep) others(v *stateValues, cfa uint64) {
	for reg, p := range w.regs {
		if slices.ContainsFunc(v.regs, func(r regValue) bool { return r.reg == reg }) {
			if reg == w.fde.ra {
				w.wrongs.Add("%#x: the return address has the rule of a register", v.pc)
			}
			continue
		}
		want := w.state.register(reg)
		if reg == w.arch.SP {
			want = w.state.fold(cfa + uint64(w.arch.SPOffset))
		}
		got, ok := p.eval(&w.state, &cfa)
		w.same(v, w.arch.RegName(reg), got, ok, regValue{value: want})
	}
}

// same compares one value.
func (w *sweep) same(v *stateValues, name string, got uint64, ok bool, want regValue) {
	w.values++
	switch {
	case want.failed && !w.anyRule:
		w.wrongs.Add("%#x: %s: its expression fails in gimli", w.state.pc, name)
	case !ok && want.failed || !ok && want.undefined || ok && !want.failed && !want.undefined && got == want.value:
	case !ok && w.anyRule && w.text[name] == ".undef":
		w.refused++
	default:
		w.wrongs.Add("%#x seed %d: %s: %s gives %#x (%v), want %+v; FDE %#x at offset %#x",
			w.state.pc, v.seed, name, w.text[name], got, ok, want, w.fde.Lo, w.fde.offset)
	}
}
