package diff

import (
	"hash/maphash"
	"slices"

	"symkit/cfi"
	"symkit/check/internal/eval"
	"symkit/check/internal/pcs"
	"symkit/check/internal/symfile"
)

// ruleDiff compares sets of rules by the values that they give.
type ruleDiff struct {
	parser   *eval.Parser
	machines [eval.Seeds]eval.Machine
}

// ruleSets are the ranges of PCs of a symbol file with the rules in force there: stretch.index is
// an index of sets. Equal sets are kept once.
type ruleSets struct {
	stretches []stretch
	sets      [][]eval.Rule
	lost      uint64 // rows whose rules are not in sets
}

// maxRules returns a bound on the rules in different sets, by the number of rows: in a row with one
// rule, all rules before it hold as well.
func maxRules(s *symfile.File) int { return 1<<16 + 4*(len(s.Inits)+len(s.Deltas)) }

// rules returns the ranges of PCs of s with the rules in force there.
func (w *ruleDiff) rules(s *symfile.File) (out ruleSets) {
	seen := map[uint64]uint32{}
	left, seed := maxRules(s), maphash.MakeSeed()
	add := func(lo, hi uint64, at uint32, state []eval.Rule) {
		// A set that was seen before is found by its hash; its text decides.
		hash := hashRules(seed, state)
		i, ok := seen[hash]
		if !ok || !eval.SameRules(out.sets[i], state) {
			left -= len(state)
			if left < 0 {
				out.lost++
				return
			}
			i = uint32(len(out.sets))
			seen[hash] = i
			out.sets = append(out.sets, slices.Clone(state))
		}
		out.stretches = append(out.stretches, stretch{pcs.Range{Lo: lo, Hi: hi}, at, i})
	}

	// Each text is parsed once.
	parsed := make([][]eval.Rule, len(s.Rules.Texts))
	rulesOf := func(text uint32) []eval.Rule {
		if parsed[text] == nil {
			parsed[text] = w.parser.Parse(nil, s.Rules.Texts[text])
		}
		return parsed[text]
	}

	// Each record ends the range of the one before it.
	for _, in := range s.UsedInits() {
		state := eval.Override(nil, rulesOf(in.Rules))
		lo, at := in.Addr, in.At
		for _, d := range s.DeltasOf(&in) {
			if d.Addr > lo {
				add(lo, d.Addr, at, state)
			}
			state = eval.Override(state, rulesOf(d.Rules))
			lo, at = d.Addr, d.At
		}
		add(lo, in.End, at, state)
	}
	return out
}

// hashRules returns a hash of the registers and texts of rules.
func hashRules(seed maphash.Seed, rules []eval.Rule) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	for i := range rules {
		maphash.WriteComparable(&h, rules[i].Reg)
		h.WriteString(rules[i].Text)
		h.WriteByte('\n')
	}
	return h.Sum64()
}

// difference describes where b differs from a, "" if it does not, at the first and last PC of both
// ranges or, where a rule depends on the PC, at each PC.
func (w *ruleDiff) difference(x, y *stretch, a, b []eval.Rule) string {
	if eval.SameRules(a, b) {
		return ""
	}

	lo, hi := max(x.Lo, y.Lo), min(x.Hi, y.Hi)

	// step leads from the first PC to the last.
	step := max(hi-lo-1, 1)
	if eval.UsesPC(a) || eval.UsesPC(b) {
		step = 1
	}
	for pc := lo; pc < hi && (step > 1 || pc-lo < eval.MaxPCs); pc += step {
		for i := range w.machines {
			w.machines[i].PC = pc
			if what := w.differ(&w.machines[i], a, b); what != "" {
				return what
			}
		}
	}
	return ""
}

// differ compares the values of all registers on one machine.
func (w *ruleDiff) differ(m *eval.Machine, a, b []eval.Rule) string {
	cfaA, okA := eval.ValueOf(m, a, eval.RegCFA, 0)
	cfaB, okB := eval.ValueOf(m, b, eval.RegCFA, 0)
	if cfaA != cfaB || okA != okB { // all other rules may depend on the CFA
		return w.text(b, eval.RegCFA)
	}

	// Every register with a rule on either side.
	for _, rules := range [][]eval.Rule{a, b} {
		for _, r := range rules {
			va, okA := eval.ValueOf(m, a, r.Reg, cfaA)
			vb, okB := eval.ValueOf(m, b, r.Reg, cfaB)
			if va != vb || okA != okB {
				return w.text(b, r.Reg)
			}
		}
	}
	return ""
}

// text returns the rule of reg as it is in a symbol file.
func (w *ruleDiff) text(rules []eval.Rule, reg cfi.Reg) string {
	name := w.parser.Arch.RegName(reg)
	switch reg {
	case eval.RegCFA:
		name = ".cfa"
	case eval.RegRA:
		name = ".ra"
	case eval.RegUnknown:
		name = "an unknown register"
	}

	// Only one side may have a rule for the register.
	if rule := eval.Find(rules, reg); rule != nil {
		return name + ": " + rule.Text
	}
	return "nothing of " + name
}
