package cfi

import (
	"math/rand/v2"
	"testing"
)

// forgetful returns a Text that puts every row into words.
func forgetful(arch *Arch) *Text {
	t := NewText(arch)
	t.cache.states, t.cache.byHash = make([]state, maxStates), map[uint64]uint32{}
	return t
}

// randomRow is a row of few registers and offsets, so that its like comes again;
// sometimes one that cannot be expressed or cached. wide: as long as there are
// registers.
func randomRow(r *rand.Rand, at uint64, wide bool) *Row {
	row := &Row{Begin: at, End: at + 1 + r.Uint64N(3), CFA: Rule{Kind: KindReg, Reg: 7, Off: 8 * r.Int64N(3)}, Exprs: []byte{2, 0x77, 8}}
	kinds := []Kind{KindUndefined, KindSame, KindMemCFA, KindMemCFA, KindCFA, KindReg, KindMemReg, KindExpr}
	regs := []Reg{3, 6, 7, 12, 13, 16}
	if r.IntN(10) == 0 {
		regs = append(regs, 56) // which has no name
	}
	if wide {
		for reg := Reg(60); reg < 100; reg++ {
			regs = append(regs, reg)
		}
	}
	for _, reg := range regs {
		if k := kinds[r.IntN(len(kinds))]; k == KindExpr {
			row.Regs = append(row.Regs, RegRule{reg, Rule{Kind: k}})
		} else if wide || r.IntN(3) == 0 {
			row.Regs = append(row.Regs, RegRule{reg, Rule{k, 3, -8}})
		}
	}
	switch r.IntN(20) {
	case 0:
		row.CFA = Rule{}
	case 1:
		row.CFA = Rule{Kind: KindExpr}
	}
	return row
}

// TestRuleCache: the text of a row after another is the same each time, whether or not the
// cache has it.
func TestRuleCache(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	text, slow := NewText(&x86_64), forgetful(&x86_64)
	rules := map[int]string{}
	for range 15000 {
		ra := Reg(16)
		if r.IntN(10) == 0 {
			ra = 3
		}
		for _, x := range []*Text{text, slow} {
			x.Reset()
			x.Begin(ra)
		}
		at, wide := uint64(0x1000), r.IntN(50) == 0
		for range 1 + r.IntN(8) {
			row := randomRow(r, at, wide)
			if at = row.End; r.IntN(20) == 0 {
				at++ // a gap
			}
			text.Add(row)
			slow.Add(row)
		}
		wantLines(t, linesOf(text, 0), linesOf(slow, 0)...)
		if text.Stats != slow.Stats {
			t.Fatalf("%v with a ruleCache, %v without", text.Stats, slow.Stats)
		}
		for i := range text.Len() {
			rec := text.Record(i)
			if was, ok := rules[rec.Number]; ok && rec.Number > 0 && was != string(rec.Rules) {
				t.Fatalf("number %d: %q and %q", rec.Number, was, rec.Rules)
			}
			rules[rec.Number] = string(rec.Rules)
		}
	}
	b := &text.cache
	t.Logf("%d states, %d texts, %d bytes", len(b.states), len(b.texts), len(b.text))
	if len(b.states) != maxStates || len(b.texts) < 1000 || len(b.table) < len(b.texts) || len(b.table) > 4*len(b.texts) {
		t.Errorf("%d states, %d texts in a table of %d", len(b.states), len(b.texts), len(b.table))
	}
	if len(slow.cache.texts) > 0 {
		t.Error("the other Text has learned something")
	}
}

// TestRuleCacheCollisions: rows with one hash, as forged ones could have, are
// distinguished.
func TestRuleCacheCollisions(t *testing.T) {
	var b ruleCache
	rows := []*Row{{CFA: Rule{KindReg, 7, 8}}, {CFA: Rule{KindReg, 7, 16}}}
	first := b.state(1, rows[0], 16)
	n := b.add(1, 0, first, []byte("first"))
	if first == 0 || n == 0 || b.find(1, 0, rows[0], 16) != n {
		t.Fatalf("state %d, ruleText %d", first, n)
	}
	if b.find(1, 0, rows[1], 16) != 0 || b.find(1, 0, rows[0], 3) != 0 || b.find(1, first, rows[0], 16) != 0 {
		t.Error("found for another row, another return address or another row before")
	}
	if s := b.state(1, rows[1], 16); s != 0 {
		t.Errorf("state %d for two rows", s)
	}
}
