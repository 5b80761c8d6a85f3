package unwind

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"symkit/cfi"
	"symkit/check/internal/checks"
	"symkit/check/internal/eval"
	"symkit/check/internal/pcs"
	"symkit/internal/limitof"
	"symkit/internal/quantity"
	"symkit/sframe"
)

// sframeRow is a row of .sframe, the PCs that it holds for, and the columns of the return address
// and the frame pointer. Rows share their rules, since a row of three bytes would else become
// hundreds of bytes.
type sframeRow struct {
	pcs.Range
	row    *cfi.Row
	ra, fp cfi.Reg
}

// What a row and its rules take in memory, in bytes, with what slices and maps need to grow.
const sframeBytes, rulesBytes = 100, 600

// addRow appends row, which ends at end, to u.sframe.
func (u *unwinder) addRow(row *cfi.Row, end uint64, ra, fp cfi.Reg) {
	u.over = cmp.Or(u.over, u.records.Take(1, sframeBytes))
	if u.over != nil {
		return
	}

	u.key = appendRules(u.key[:0], row)
	kept := u.shared[string(u.key)]
	if kept == nil {
		u.over = u.records.Take(1, rulesBytes)
		own := *row
		own.Regs = slices.Clone(row.Regs)
		kept = &own
		u.shared[string(u.key)] = kept
	}
	u.sframe = append(u.sframe, sframeRow{pcs.Range{Lo: row.Begin, Hi: end}, kept, ra, fp})
}

// appendRules appends to key all that row has beside its PCs. Rows of one table have one Exprs.
func appendRules(key []byte, row *cfi.Row) []byte {
	add := func(reg cfi.Reg, r cfi.Rule) {
		key = append(binary.AppendUvarint(key, uint64(reg)), byte(r.Kind))
		key = binary.AppendVarint(binary.AppendUvarint(key, uint64(r.Reg)), r.Off)
	}
	if row.RASigned {
		key = append(key, 's')
	}
	add(eval.RegCFA, row.CFA)
	for i := range row.Regs {
		add(row.Regs[i].Reg, row.Regs[i].Rule)
	}
	return key
}

// readSFrame reads the rows of .sframe, in order of address.
func (u *unwinder) readSFrame() {
	r := u.r
	sec := r.Image.Main.Section(".sframe")
	if sec == nil || !sec.Present() {
		return
	}
	data, err := sec.Data()
	if err != nil {
		u.c.Unverified(checks.Agreement, 1, err.Error())
		return
	}

	abi, ok := sframe.ABIOf(r.Image.Main.Machine, r.Image.Main.BigEndian)
	if !ok {
		u.c.Unverified(checks.Agreement, 1, "SFrame is not defined for the machine")
		return
	}
	parsed, err := sframe.Parse(data, sframe.Options{Addr: sec.Addr, ABI: abi, Segment: sec.Index < 0,
		Limits: r.Report.Limits, FileSize: r.Image.Size()})
	if err != nil {
		u.c.Unverified(checks.Agreement, 1, err.Error())
		if parsed == nil {
			return
		}
	}

	// A damaged FDE costs its own rows alone.
	for fde, err := range parsed.FDEs() {
		if u.over != nil {
			break
		}
		if err != nil {
			u.c.Unverified(checks.Agreement, 1, err.Error())
			continue
		}
		if !r.Code.Contains(fde.Start) {
			continue
		}

		for row, err := range fde.Rows() {
			if err != nil {
				u.c.Unverified(checks.Agreement, 1, err.Error())
				break
			}
			if row.Begin < row.End && len(u.sframe) < r.Report.Limits.Int(limitof.CheckRows) {
				u.addRow(row, row.End, abi.RA(), abi.FP())
			}
		}
	}
	u.sframe = pcs.Disjoint(u.sframe)
}

// sframeAt returns the SFrame row that holds for all of seg, if there is one.
func (u *unwinder) sframeAt(seg segment) (*sframeRow, bool) {
	i := pcs.After(u.sframe, seg.lo)
	if i < len(u.sframe) && u.sframe[i].Lo <= seg.lo && u.sframe[i].Hi >= seg.hi {
		return &u.sframe[i], true
	}
	return nil, false
}

// sframeOnly compares the records at the PCs that only SFrame describes.
func (u *unwinder) sframeOnly() {
	if len(u.sframe) == 0 {
		return
	}
	dwarf := pcs.SetOf(u.parts)
	w := newUnwindWorker(u)
	for i := range u.sframe {
		x := &u.sframe[i]
		dwarf.Outside(x.Lo, x.Hi, func(lo, hi uint64) {
			row := *x.row
			row.Begin, row.End = lo, hi
			w.row(&row, x.ra)
		})
	}
	u.c.Add(w.take())
}

// agreement counts the PCs at which DWARF and SFrame agree on the CFA, the return address and the
// frame pointer. A difference is no fault of the symbol file: it is a note, not a finding.
func (u *unwinder) agreement() {
	if len(u.sframe) == 0 || u.exidx {
		return
	}
	c := u.c
	c.Begin(checks.Agreement, "PCs")
	w := newUnwindWorker(u)

	// Both lists are in order of address; each row of DWARF meets the rows of SFrame that overlap
	// with it.
	both, differ := uint64(0), uint64(0)
	for i := range u.parts {
		p := &u.parts[i]
		for row, err := range p.fde.Rows() {
			if err != nil {
				break
			}
			row.Begin, row.End = max(row.Begin, p.Lo), min(row.End, p.Hi)
			for k := pcs.After(u.sframe, row.Begin); k < len(u.sframe) && u.sframe[k].Lo < row.End; k++ {
				x := &u.sframe[k]

				lo, hi := max(row.Begin, x.Lo), min(row.End, x.Hi)
				if lo >= hi {
					continue
				}
				both += hi - lo
				differ += w.disagree(row, p.fde.CIE.RA, x, lo, hi)
			}
		}
	}

	c.Compared(checks.Agreement, both)
	if differ > 0 {
		c.Note(checks.Agreement, fmt.Sprintf("SFrame and DWARF differ at %s of %s PCs", quantity.Number(differ), quantity.Number(both)))
	}
}

// disagree counts the PCs of [lo, hi) at which the rows differ. Rows that do not depend on the PC
// are compared at its ends.
func (w *unwindWorker) disagree(row *cfi.Row, ra cfi.Reg, x *sframeRow, lo, hi uint64) (n uint64) {
	if !w.ruleUsesPC(row, row.CFA) {
		if w.same(row, ra, x, lo) && w.same(row, ra, x, hi-1) {
			return 0
		}
		return hi - lo
	}
	for pc := lo; pc < hi && pc-lo < eval.MaxPCs; pc++ {
		if !w.same(row, ra, x, pc) {
			n++
		}
	}
	return n
}

// same reports whether two rows give the same values at pc. Rows whose return addresses are both
// undefined are the same, whatever their other rules are.
func (w *unwindWorker) same(row *cfi.Row, ra cfi.Reg, x *sframeRow, pc uint64) bool {
	m := &w.machines[0]
	m.PC = pc & m.Mask
	type triple struct {
		cfa, ra, fp uint64
		undefined   bool
	}

	values := func(row *cfi.Row, ra cfi.Reg) (t triple) {
		rule := row.Rule(ra)
		t.undefined = rule.Kind == cfi.KindUndefined
		if t.undefined {
			return t
		}

		// Without a rule a register is unchanged.
		t.cfa, _ = m.Value(row, row.CFA, eval.RegCFA, 0)
		if rule.Kind == cfi.KindNone {
			rule.Kind = cfi.KindSame
		}
		t.ra, _ = m.Value(row, rule, ra, t.cfa, t.cfa)

		fp := row.Rule(x.fp)
		if fp.Kind == cfi.KindNone {
			fp.Kind = cfi.KindSame
		}
		t.fp, _ = m.Value(row, fp, x.fp, t.cfa, t.cfa)
		return t
	}
	return values(row, ra) == values(x.row, x.ra)
}
