package sframes

import (
	"context"
	"fmt"
	"iter"

	"symkit/cfi"
	"symkit/check/internal/checks"
	"symkit/check/internal/eval"
	"symkit/check/internal/pcs"
	"symkit/internal/quantity"
)

// rows compares the rows of both tables, which come in the order of their addresses: each row of DWARF
// meets the rows of SFrame that overlap with it. No row is kept.
func (v *verifier) rows(ctx context.Context) error {
	m := &comparer{verifier: v, machine: eval.NewMachines(v.arch, v.main.BigEndian)[0]}
	next, stop := iter.Pull(v.sframeRows())
	defer stop()
	x, ok := next()

	for i := range v.dwarf {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		p := &v.dwarf[i]
		for row, err := range p.fde.Rows() {
			if err != nil {
				v.c.Unverified(checks.SFrame, 1, err.Error())
				break
			}
			lo, hi := max(row.Begin, p.Lo), min(row.End, p.Hi)
			for ok && x.Lo < hi {
				if x.Hi > lo {
					m.compare(p, row, &x, pcs.Range{Lo: max(lo, x.Lo), Hi: min(hi, x.Hi)})
				}
				if x.Hi > hi {
					break
				}
				x, ok = next()
			}
		}
	}
	m.flush()

	// The rest of the rows may be damaged.
	for ok {
		_, ok = next()
	}
	v.c.Compared(checks.SFrame, m.both)
	if m.differ > 0 {
		v.c.Note(checks.SFrame, fmt.Sprintf("SFrame and DWARF differ at %s of %s PCs", quantity.Number(m.differ), quantity.Number(m.both)))
	}
	if m.stubs > 0 {
		v.note("at %s of .plt.got the CFA is 8 too high, as GNU ld writes it", quantity.Count(m.stubs, "PC", "PCs"))
	}
	return nil
}

// sframeRow is a row, the PCs that it holds for, and its function.
type sframeRow struct {
	pcs.Range
	row *cfi.Row
	fn  *function
}

// sframeRows yields the rows of all functions in the order of their addresses. Of functions that
// overlap, the first one holds. Damage ends the rows of a function. Functions with other bounds have
// no rows to compare.
func (v *verifier) sframeRows() iter.Seq[sframeRow] {
	return func(yield func(sframeRow) bool) {
		end := uint64(0)
		for i := range v.funcs {
			fn := &v.funcs[i]
			if fn.moved {
				continue // the finding is that of presence
			}
			f, err := v.chunk(fn).FDE(fn.index)
			if err != nil {
				continue // list has the finding
			}
			for row, err := range f.Rows() {
				if err != nil {
					v.add(damaged, fn.Lo, fn.Hi-fn.Lo, "FDE %d: %s: %v", fn.index, v.title(fn.Lo), err)
					break
				}
				x := sframeRow{pcs.Range{Lo: max(row.Begin, end), Hi: row.End}, row, fn}
				if x.Lo < x.Hi && !yield(x) {
					return
				}
			}
			end = max(end, fn.Hi)
		}
	}
}

// comparer compares rows.
type comparer struct {
	*verifier
	machine      eval.Machine
	both, differ uint64 // PCs
	stubs        uint64 // PCs with GNU ld's rows for .plt.got
	stubsEnd     uint64

	// The differences of the current function, by cause.
	fn    *function
	found [4]difference
}

// difference is the first difference of a function, and the number of PCs that differ.
type difference struct {
	n    uint64
	at   uint64
	what string
}

// differing are the causes of differences.
var differing = [4]string{cfaDiffers, raDiffers, fpDiffers, pacDiffers}

// compare compares two rows at the PCs of r. Rows that do not depend on the PC are compared at its
// ends.
func (m *comparer) compare(p *part, row *cfi.Row, x *sframeRow, r pcs.Range) {
	if x.fn != m.fn {
		m.flush()
		m.fn = x.fn
	}
	m.both += r.Hi - r.Lo
	n := uint64(0)
	if !m.machine.RuleUsesPC(row, row.CFA) {
		if m.at(p, row, x, r.Lo, r.Hi-r.Lo) || m.at(p, row, x, r.Hi-1, r.Hi-r.Lo) {
			n = r.Hi - r.Lo
		}
	} else {
		for pc := r.Lo; pc < r.Hi && pc-r.Lo < eval.MaxPCs; pc++ {
			if m.at(p, row, x, pc, 1) {
				n++
			}
		}
	}
	m.differ += n
}

// at compares two rows at pc and notes what differs at n PCs.
func (m *comparer) at(p *part, row *cfi.Row, x *sframeRow, pc, n uint64) bool {
	machine := &m.machine
	machine.PC = pc & machine.Mask
	ra, fp := x.row.Rule(m.abi.RA()), x.row.Rule(m.abi.FP())
	wantRA, wantFP := row.Rule(p.fde.CIE.RA), row.Rule(m.abi.FP())

	// At the end of the stack the other rules do not matter.
	end, wantEnd := ra.Kind == cfi.KindUndefined, wantRA.Kind == cfi.KindUndefined
	if end || wantEnd {
		return end != wantEnd && m.differs(1, pc, n, ra, wantRA, m.abi.RA())
	}

	// What is in memory at the CFA differs only if the distance does.
	cfa, _ := machine.Value(x.row, x.row.CFA, eval.RegCFA, 0)
	want, _ := machine.Value(row, row.CFA, eval.RegCFA, 0)
	different := false
	if cfa != want {
		if cfa == want+8 && x.fn.mask && m.isPLTGot(pc) {
			if pc >= m.stubsEnd {
				m.stubs, m.stubsEnd = m.stubs+n, pc+n
			}
			return false
		}
		different = m.differs(0, pc, n, x.row.CFA, row.CFA, eval.RegCFA)
	}
	value := func(row *cfi.Row, rule cfi.Rule, reg cfi.Reg) uint64 {
		if rule.Kind == cfi.KindNone {
			rule.Kind = cfi.KindSame // without a rule a register is unchanged
		}
		value, _ := machine.Value(row, rule, reg, want, want)
		return value
	}
	if value(x.row, ra, m.abi.RA()) != value(row, wantRA, p.fde.CIE.RA) {
		different = m.differs(1, pc, n, ra, wantRA, m.abi.RA())
	}
	if value(x.row, fp, m.abi.FP()) != value(row, wantFP, m.abi.FP()) {
		different = m.differs(2, pc, n, fp, wantFP, m.abi.FP())
	}
	return m.pac(p, row, x, pc, n) || different
}

// pac compares the state and the key of pointer authentication.
func (m *comparer) pac(p *part, row *cfi.Row, x *sframeRow, pc, n uint64) bool {
	state := func(signed, keyB bool) string {
		switch {
		case !signed:
			return "not signed"
		case keyB:
			return "signed with key B"
		}
		return "signed with key A"
	}
	is, want := state(x.row.RASigned, x.fn.keyB), state(row.RASigned, p.fde.CIE.BKey)
	return is != want && m.record(3, pc, n, "the return address is %s, in .eh_frame %s", is, want)
}

// differs notes that the rules of a register differ at n PCs.
func (m *comparer) differs(i int, pc, n uint64, rule, want cfi.Rule, reg cfi.Reg) bool {
	what := [3]string{"the CFA", "the return address", "the frame pointer"}[i]
	return m.record(i, pc, n, what+" is %s, in .eh_frame %s", m.arch.Describe(rule, reg), m.arch.Describe(want, reg))
}

// record notes a difference of one of the four kinds.
func (m *comparer) record(i int, pc, n uint64, format, is, want string) bool {
	d := &m.found[i]
	if d.n == 0 {
		d.at, d.what = pc, fmt.Sprintf(format, is, want)
	}
	d.n += n
	return true
}

// flush adds the findings about the current function.
func (m *comparer) flush() {
	for i := range m.found {
		d := &m.found[i]
		if d.n > 0 {
			m.add(differing[i], d.at, d.n, "FDE %d: %s: at %#x %s (%s)", m.fn.index, m.title(m.fn.Lo), m.shown(d.at), d.what, quantity.Count(d.n, "PC", "PCs"))
		}
	}
	m.found = [4]difference{}
}

// isPLTGot reports whether an address is in .plt.got.
func (m *comparer) isPLTGot(addr uint64) bool {
	s := m.main.Section(".plt.got")
	return s != nil && addr-s.Addr < s.Size
}
