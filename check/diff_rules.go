package check

import (
	"hash/maphash"
	"slices"

	"symkit/cfi"
)

// ruleDiff compares sets of rules by what they evaluate to.
type ruleDiff struct {
	parser   *ruleParser
	machines [seeds]machine
}

// ruleSets are the stretches of PCs of a symbol file with the rules in force
// there: stretch.index is that of sets. Equal sets are kept once.
type ruleSets struct {
	stretches []stretch
	sets      [][]symRule
	lost      uint64 // rows whose rules are not in sets
}

// maxRules bounds the rules in different sets, by the number of rows: of a row with
// one rule, all those before it hold as well.
func maxRules(s *symFile) int { return 1<<16 + 4*(len(s.inits)+len(s.deltas)) }

// rules lists what is in force where.
func (w *ruleDiff) rules(s *symFile) (out ruleSets) {
	seen := map[uint64]uint32{}
	left, seed := maxRules(s), maphash.MakeSeed()
	add := func(lo, hi uint64, at uint32, state []symRule) {
		hash := hashRules(seed, state)
		i, ok := seen[hash]
		if !ok || !sameRules(out.sets[i], state) {
			if left -= len(state); left < 0 {
				out.lost++
				return
			}
			i = uint32(len(out.sets))
			seen[hash] = i
			out.sets = append(out.sets, slices.Clone(state))
		}
		out.stretches = append(out.stretches, stretch{lo, hi, at, i})
	}
	pos := uint64(0)
	for _, i := range byAddr(len(s.inits), func(i uint32) uint64 { return s.inits[i].addr }) {
		in := &s.inits[i]
		if in.addr < pos || in.end <= in.addr {
			continue // consumers use the first of those that overlap
		}
		pos = in.end
		state := override(nil, w.parser.parse(in.rules))
		lo, at := in.addr, in.at
		for _, d := range s.deltas[in.deltas.from:in.deltas.to] {
			if d.addr > lo {
				add(lo, d.addr, at, state)
			}
			state = override(state, w.parser.parse(d.rules))
			lo, at = d.addr, d.at
		}
		add(lo, in.end, at, state)
	}
	return out
}

func hashRules(seed maphash.Seed, rules []symRule) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	for i := range rules {
		maphash.WriteComparable(&h, rules[i].reg)
		h.WriteString(rules[i].text)
		h.WriteByte('\n')
	}
	return h.Sum64()
}

// sameRules tells whether two sets are the same text.
func sameRules(a, b []symRule) bool {
	return slices.EqualFunc(a, b, func(x, y symRule) bool { return x.reg == y.reg && x.text == y.text })
}

// override puts rules into force, ordered by register.
func override(state, rules []symRule) []symRule {
	for _, r := range rules {
		i, found := slices.BinarySearchFunc(state, r, func(a, b symRule) int { return int(int64(a.reg) - int64(b.reg)) })
		if found {
			state[i] = r
		} else {
			state = slices.Insert(state, i, r)
		}
	}
	return state
}

// difference says what b has otherwise than a, empty for nothing, at the first
// and last PC of both; where a rule depends on the PC, at each.
func (w *ruleDiff) difference(x, y *stretch, a, b []symRule) string {
	if sameRules(a, b) {
		return ""
	}
	lo, hi := max(x.lo, y.lo), min(x.hi, y.hi)
	step := max(hi-lo-1, 1)
	if usesPC(a) || usesPC(b) {
		step = 1
	}
	for pc := lo; pc < hi && (step > 1 || pc-lo < maxPCs); pc += step {
		for i := range w.machines {
			w.machines[i].pc = pc
			if what := w.differ(&w.machines[i], a, b); what != "" {
				return what
			}
		}
	}
	return ""
}

func usesPC(rules []symRule) bool {
	return slices.ContainsFunc(rules, func(r symRule) bool { return r.prog.usesPC })
}

// differ compares the values of all registers on one machine.
func (w *ruleDiff) differ(m *machine, a, b []symRule) string {
	cfaA, okA := value(m, a, regCFA, 0)
	cfaB, okB := value(m, b, regCFA, 0)
	if cfaA != cfaB || okA != okB { // all other rules may depend on it
		return w.text(b, regCFA)
	}
	for _, rules := range [][]symRule{a, b} {
		for _, r := range rules {
			va, okA := value(m, a, r.reg, cfaA)
			vb, okB := value(m, b, r.reg, cfaB)
			if va != vb || okA != okB {
				return w.text(b, r.reg)
			}
		}
	}
	return ""
}

// value is what the rule of reg evaluates to, false for nothing. Without one a callee-saved
// register is unchanged, and the stack pointer the CFA.
func value(m *machine, rules []symRule, reg cfi.Reg, cfa uint64) (uint64, bool) {
	for i := range rules {
		if rules[i].reg == reg {
			v, err := rules[i].prog.eval(m, cfa)
			if err != nil || reg == regRA && v < maxUndefined {
				return 0, false // the end of the stack
			}
			return v, true
		}
	}
	switch {
	case reg == m.arch.SP:
		return cfa, true
	case m.arch.calleeSaved(reg):
		return m.reg(reg), true
	}
	return 0, false
}

// text is the rule of reg, as a symbol file has it.
func (w *ruleDiff) text(rules []symRule, reg cfi.Reg) string {
	name := w.parser.arch.RegName(reg)
	switch reg {
	case regCFA:
		name = ".cfa"
	case regRA:
		name = ".ra"
	case regUnknown:
		name = "an unknown register"
	}
	for i := range rules {
		if rules[i].reg == reg {
			return name + ": " + rules[i].text
		}
	}
	return "nothing of " + name
}
