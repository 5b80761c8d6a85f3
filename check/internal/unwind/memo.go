package unwind

import (
	"encoding/binary"
	"slices"

	"symkit/cfi"
	"symkit/check/internal/eval"
)

// memo caches which sets of rules are right for which rows. Functions begin and end alike, so a
// program has only a few thousand different pairs of a set and a row. A pair is cached if neither
// side depends on the PC and no rule of the row is an expression: then the comparison has the same
// result everywhere.
//
// The key of a set of rules is the number of the set that was in force before, and the text of the
// record that changed it.
type memo struct {
	state uint32            // number of the set in force; 0 is the empty set
	sets  []ruleSet         // by number
	next  map[uint64]uint32 // by number of a set and index of a text

	rowID uint32 // number of the row; 0 for a row that is not cached
	rows  map[string]uint32
	pairs map[uint64]struct{} // the pairs of a set and a row that are right
	key   []byte
}

// ruleSet is a set of rules.
type ruleSet struct {
	rules  []eval.Rule
	usesPC bool

	// The last answers of the maps for this set, which are mostly the next ones, too: the text that
	// was applied, the number of the set after it, or 0, and a row that is right, or 0.
	text, after, right uint32
}

// maxMemo bounds the sets and the rows of a memo.
const maxMemo = 1 << 14

func newMemo() memo {
	return memo{sets: make([]ruleSet, 1), next: map[uint64]uint32{}, rows: map[string]uint32{}, pairs: map[uint64]struct{}{}}
}

// apply returns the set in force after a record: state, which is in force before, with rules, which
// have the index text.
func (m *memo) apply(state []eval.Rule, text uint32, rules []eval.Rule) []eval.Rule {
	before := &m.sets[m.state]
	if before.after != 0 && before.text == text {
		m.state = before.after
		return m.sets[m.state].rules
	}
	key := uint64(m.state)<<32 | uint64(text)
	if n, ok := m.next[key]; ok {
		before.text, before.after = text, n
		m.state = n
		return m.sets[n].rules
	}

	// A set that others may use does not change.
	state = slices.Clone(state)
	for _, r := range rules {
		if old := eval.Find(state, r.Reg); old != nil {
			*old = r
		} else {
			state = append(state, r)
		}
	}
	if len(m.sets) < maxMemo {
		m.next[key] = uint32(len(m.sets))
	} else {
		m.sets = m.sets[:1]
		m.sets[0].after = 0
		clear(m.next)
		m.forgetPairs()
	}
	m.state = uint32(len(m.sets))
	m.sets = append(m.sets, ruleSet{rules: state, usesPC: eval.UsesPC(state)})
	return state
}

// row takes row for the next pairs; ra is the column of its return address.
func (m *memo) row(w *unwindWorker, row *cfi.Row, ra cfi.Reg) {
	m.rowID = 0
	if !m.encode(w, row, ra) {
		return
	}
	id, ok := m.rows[string(m.key)]
	if !ok {
		if len(m.rows) >= maxMemo {
			clear(m.rows)
			m.forgetPairs()
		}
		id = uint32(len(m.rows) + 1)
		m.rows[string(m.key)] = id
	}
	m.rowID = id
}

// encode makes m.key of all that the comparison reads of a row. It returns false if a rule of the
// row is an expression or may depend on the PC.
func (m *memo) encode(w *unwindWorker, row *cfi.Row, ra cfi.Reg) bool {
	k := binary.AppendUvarint(m.key[:0], uint64(ra))
	add := func(self cfi.Reg, rule cfi.Rule) bool {
		reg := rule.Reg
		switch rule.Kind {
		case cfi.KindExpr, cfi.KindMemExpr:
			return false
		case cfi.KindSame:
			reg = self
		case cfi.KindReg, cfi.KindMemReg:
		default:
			k = binary.AppendVarint(append(k, byte(rule.Kind)), rule.Off)
			return true
		}
		k = binary.AppendVarint(append(k, byte(rule.Kind)), rule.Off)
		k = binary.AppendUvarint(k, uint64(reg))
		return w.arch.PC == "" || w.arch.RegName(reg) != w.arch.PC
	}

	ok := add(eval.RegCFA, row.CFA)
	for i := range row.Regs {
		r := &row.Regs[i]
		k = binary.AppendUvarint(k, uint64(r.Reg))
		ok = ok && add(r.Reg, r.Rule)
	}
	m.key = k
	return ok
}

// pair returns the key of the set in force and the row, and false for a pair that is not
// remembered.
func (m *memo) pair() (uint64, bool) {
	return uint64(m.state)<<32 | uint64(m.rowID), m.rowID != 0 && !m.sets[m.state].usesPC
}

// right reports whether the set in force is known to be right for the row.
func (m *memo) right() bool {
	key, ok := m.pair()
	if !ok {
		return false
	}

	set := &m.sets[m.state]
	if set.right == m.rowID {
		return true
	}
	_, ok = m.pairs[key]
	if ok {
		set.right = m.rowID
	}
	return ok
}

// keep remembers that the set in force is right for the row.
func (m *memo) keep() {
	key, ok := m.pair()
	if !ok {
		return
	}
	if len(m.pairs) >= 4*maxMemo {
		m.forgetPairs()
	}
	m.pairs[key] = struct{}{}
}

// forgetPairs removes all pairs.
func (m *memo) forgetPairs() {
	clear(m.pairs)
	for i := range m.sets {
		m.sets[i].right = 0
	}
}
