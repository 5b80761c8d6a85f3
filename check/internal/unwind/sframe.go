package unwind

import (
	"cmp"
	"encoding/binary"
	"slices"

	"symkit/cfi"
	"symkit/check/internal/eval"
	"symkit/check/internal/pcs"
	"symkit/check/internal/sframes"
	"symkit/internal/limitof"
)

// sframeRow is a row of .sframe, the PCs that it holds for, and the column of the return
// address. Rows share their rules, since a row of three bytes would else become hundreds of bytes.
type sframeRow struct {
	pcs.Range
	row *cfi.Row
	ra  cfi.Reg
}

// What a row and its rules take in memory, in bytes, with what slices and maps need to grow.
const sframeBytes, rulesBytes = 100, 600

// addRow appends row, which ends at end, to u.sframe.
func (u *unwinder) addRow(row *cfi.Row, end uint64, ra cfi.Reg) {
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
	u.sframe = append(u.sframe, sframeRow{pcs.Range{Lo: row.Begin, Hi: end}, kept, ra})
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

// readSFrame reads the rows of .sframe, in order of address. What cannot be read is named by the check
// of the section itself (package sframes).
func (u *unwinder) readSFrame() {
	r := u.r
	parsed, abi, err := sframes.Read(r.Image, r.Report.Limits)
	if parsed == nil || err != nil && len(parsed.Chunks) == 0 {
		return
	}

	// A damaged FDE costs its own rows alone.
	for fde, err := range parsed.FDEs() {
		if u.over != nil {
			break
		}
		if err != nil || !r.Code.Contains(fde.Start) {
			continue
		}
		for row, err := range fde.Rows() {
			if err != nil {
				break
			}
			if row.Begin < row.End && len(u.sframe) < r.Report.Limits.Int(limitof.CheckRows) {
				u.addRow(row, row.End, abi.RA())
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
