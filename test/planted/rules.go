package planted

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// moving returns the entries with records that change rules.
func moving(e *entry) bool { return len(e.deltas) > 0 }

func rulesStale(f *file) string {
	e, ok := pick(f, f.rules, moving)
	if !ok {
		return ""
	}
	i := f.random.IntN(len(e.deltas))
	lost := e.deltas[i]
	e.deltas = slices.Delete(e.deltas, i, i+1)
	return fmt.Sprintf("rules at %#x lost: %s", lost.addr, lost.rules)
}

func rulesLost(f *file) string {
	if len(f.rules) == 0 {
		return ""
	}
	i := f.random.IntN(len(f.rules))
	lost := f.rules[i]
	f.rules = slices.Delete(f.rules, i, i+1)
	return fmt.Sprintf("rules of %#x to %#x lost", lost.addr, lost.addr+lost.size)
}

func rulesLate(f *file) string {
	room := func(e *entry, i int) uint64 {
		end := e.addr + e.size
		if i+1 < len(e.deltas) {
			end = e.deltas[i+1].addr
		}
		return end - e.deltas[i].addr - 1
	}
	e, ok := pick(f, f.rules, func(e *entry) bool {
		for i := range e.deltas {
			if room(e, i) > 0 {
				return true
			}
		}
		return false
	})
	if !ok {
		return ""
	}
	i, _ := pick(f, indices(len(e.deltas)), func(i int) bool { return room(e, i) > 0 })
	by := 1 + f.random.Uint64N(min(room(e, i), 4))
	e.deltas[i].addr += by
	return fmt.Sprintf("rules at %#x are %d bytes late", e.deltas[i].addr, by)
}

// indices returns the numbers below n.
func indices(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// rule is the text of the rules of an INIT record or of another.
type rule struct {
	addr uint64
	text *string
}

// change replaces the number in the first match of a pattern in one of the records that have one. The pattern has two
// groups around the number.
func (f *file) change(pattern *regexp.Regexp, to func(n int) int) string {
	var all []rule
	for _, e := range f.rules {
		all = append(all, rule{e.addr, &e.init})
		for i := range e.deltas {
			all = append(all, rule{e.deltas[i].addr, &e.deltas[i].rules})
		}
	}
	r, ok := pick(f, all, func(r rule) bool { return pattern.MatchString(*r.text) })
	if !ok {
		return ""
	}
	m := pattern.FindStringSubmatchIndex(*r.text)
	was := *r.text
	n, err := strconv.Atoi(was[m[3]:m[4]])
	if err != nil {
		return ""
	}
	*r.text = was[:m[3]] + strconv.Itoa(to(n)) + was[m[4]:]
	return fmt.Sprintf("rules at %#x: %s instead of %s", r.addr, *r.text, was)
}

var (
	cfaRule      = regexp.MustCompile(`(\.cfa: \S+ )\d+( \+)`)
	returnRule   = regexp.MustCompile(`(\.ra: \.cfa )-?\d+( \+ \^)`)
	registerRule = regexp.MustCompile(`((?:^| )[$a-z]\w*: \.cfa )-?\d+( \+ \^)`)
)

func cfaChanged(f *file) string {
	by := 8 * (1 + f.random.IntN(3))
	return f.change(cfaRule, func(n int) int { return n + by })
}

func returnChanged(f *file) string {
	return f.change(returnRule, func(n int) int { return n - 8 })
}

func registerChanged(f *file) string {
	return f.change(registerRule, func(n int) int { return n - 4 })
}

// registers are those of x86_64 and their like on arm64.
var registers = strings.NewReplacer("$rsp", "sp", "$rbp", "x29", "$rbx", "x19", "$r12", "x20", "$r13", "x21", "$r14", "x22", "$r15", "x23", "$rip", "pc")

func rulesOfAnotherCPU(f *file) string {
	if len(f.rules) == 0 {
		return ""
	}
	replace := registers.Replace
	if !strings.Contains(f.rules[0].init, "$r") {
		names := regexp.MustCompile(`\b(sp|[xr]\d+|r1)\b`)
		replace = func(s string) string { return names.ReplaceAllLiteralString(s, "$rsp") }
	}
	changed := false
	for _, e := range f.rules {
		was := e.init
		e.init = replace(e.init)
		changed = changed || was != e.init
		for i := range e.deltas {
			e.deltas[i].rules = replace(e.deltas[i].rules)
		}
	}
	if !changed {
		return ""
	}
	return "registers of another CPU: " + f.rules[0].init
}
