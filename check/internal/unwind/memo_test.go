package unwind

import (
	"debug/elf"
	"testing"

	"symkit/cfi"
	"symkit/check/internal/eval"
)

// newTestWorker returns a worker for x86-64 without tables.
func newTestWorker() *unwindWorker {
	u := &unwinder{arch: eval.ArchOf(elf.EM_X86_64, elf.ELFCLASS64)}
	return &unwindWorker{unwinder: u, memo: newMemo()}
}

// TestMemoRows checks that rows which differ in any field have different numbers, and that rows with
// expressions, or that may depend on the PC, have none.
func TestMemoRows(t *testing.T) {
	const rbp, rsp, rip = 6, 7, 16
	row := func(cfa cfi.Rule, regs ...cfi.RegRule) *cfi.Row { return &cfi.Row{CFA: cfa, Regs: regs} }
	cfa := cfi.Rule{Kind: cfi.KindReg, Reg: rsp, Off: 8}
	saved := func(reg cfi.Reg, off int64) cfi.RegRule {
		return cfi.RegRule{Reg: reg, Rule: cfi.Rule{Kind: cfi.KindMemCFA, Off: off}}
	}
	distinct := []struct {
		row *cfi.Row
		ra  cfi.Reg
	}{
		{row(cfa), rip},
		{row(cfa), rbp},
		{row(cfi.Rule{Kind: cfi.KindReg, Reg: rsp, Off: 16}), rip},
		{row(cfi.Rule{Kind: cfi.KindReg, Reg: rbp, Off: 8}), rip},
		{row(cfi.Rule{Kind: cfi.KindMemReg, Reg: rsp, Off: 8}), rip},
		{row(cfa, saved(rip, -8)), rip},
		{row(cfa, saved(rip, -16)), rip},
		{row(cfa, saved(rip, -8), saved(rbp, -16)), rip},
		{row(cfa, saved(rbp, -8)), rip},
		{row(cfa, cfi.RegRule{Reg: rbp, Rule: cfi.Rule{Kind: cfi.KindCFA, Off: -8}}), rip},
		{row(cfa, cfi.RegRule{Reg: rbp, Rule: cfi.Rule{Kind: cfi.KindSame}}), rip},
		{row(cfa, cfi.RegRule{Reg: rbp, Rule: cfi.Rule{Kind: cfi.KindUndefined}}), rip},
	}
	w := newTestWorker()
	for range 2 {
		for i, test := range distinct {
			w.memo.row(w, test.row, test.ra)
			if w.memo.rowID != uint32(i)+1 {
				t.Errorf("row %d has the number %d", i, w.memo.rowID)
			}
		}
	}

	for i, r := range []*cfi.Row{
		row(cfi.Rule{Kind: cfi.KindExpr}),
		row(cfa, cfi.RegRule{Reg: rbp, Rule: cfi.Rule{Kind: cfi.KindMemExpr}}),
		row(cfa, cfi.RegRule{Reg: rbp, Rule: cfi.Rule{Kind: cfi.KindReg, Reg: rip}}),
		row(cfa, cfi.RegRule{Reg: rip, Rule: cfi.Rule{Kind: cfi.KindSame}}),
	} {
		w.memo.row(w, r, rip)
		if w.memo.rowID != 0 {
			t.Errorf("row %d that is not to be remembered has the number %d", i, w.memo.rowID)
		}
	}
}

// TestMemoPairs checks that a pair is remembered until the memo is full, and only for sets that do
// not depend on the PC.
func TestMemoPairs(t *testing.T) {
	w := newTestWorker()
	m := &w.memo
	p := eval.NewParser(w.arch)
	first, pc := p.Parse(nil, []byte(".cfa: $rsp 8 + .ra: .cfa -8 + ^")), p.Parse(nil, []byte("$rbx: $rip 1 +"))
	m.row(w, &cfi.Row{CFA: cfi.Rule{Kind: cfi.KindReg, Reg: 7, Off: 8}}, 16)
	begin := func(text uint32, rules []eval.Rule) []eval.Rule {
		m.state = 0
		return m.apply(nil, text, rules)
	}

	state := begin(0, first)
	if len(state) != 2 || m.right() {
		t.Fatalf("%d rules, right %v", len(state), m.right())
	}
	m.keep()
	begin(0, first)
	if !m.right() {
		t.Error("the pair is not remembered")
	}

	if got := m.apply(state, 1, pc); len(got) != 3 || len(state) != 2 {
		t.Errorf("%d rules, then %d", len(state), len(got))
	}
	m.keep()
	if m.right() {
		t.Error("rules that depend on the PC are remembered")
	}

	// Each text makes a new set, until all sets are forgotten.
	for i := range uint32(maxMemo) {
		begin(2+i, first)
	}
	if len(m.sets) > maxMemo {
		t.Errorf("%d sets", len(m.sets))
	}
	begin(0, first)
	if m.right() {
		t.Error("a forgotten pair counts as right")
	}
}
