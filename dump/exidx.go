package dump

import (
	"fmt"
	"slices"

	"symkit/cfi"
)

// armRA is the column of the return address in the rows of cfi.Exidx: lr.
const armRA = 14

// listExidx returns the rows of ARM's exception index table whose code is in
// the file. Each holds for a whole function.
func (d *dumper) listExidx() (frames []frame) {
	f := d.img.Main
	index := f.Section(".ARM.exidx")
	if !cfi.ExidxMachine(f.Machine, f.Class) || index == nil || !index.Present() {
		return nil
	}
	x := cfi.Exidx{IndexAddr: index.Addr, BigEndian: f.BigEndian}
	if n := len(d.code); n > 0 {
		x.End = d.code[n-1].Hi
	}
	var err error
	x.Index, err = index.Data()
	d.loss(err)
	if table := f.Section(".ARM.extab"); table != nil && table.Present() {
		x.TableAddr = table.Addr
		x.Table, err = table.Data()
		d.loss(err)
	}
	for row, err := range x.Rows() {
		switch {
		case err != nil:
			d.loss(fmt.Errorf("%s: %w", f.Path(), err))
		case row.Begin >= row.End:
		case !d.code.Contains(row.Begin):
			d.m.Stats.OutsideCode++
		case row.Begin < d.bias:
			d.m.Stats.BelowLoad++
		default:
			kept := *row
			kept.Regs = slices.Clone(row.Regs)
			kept.End = min(row.End, d.code.EndOf(row.Begin))
			frames = append(frames, frame{lo: kept.Begin, hi: kept.End, exidx: &kept})
		}
	}
	return frames
}

// exidx writes the row of f.
func (m *merger) exidx(f *frame) {
	row := *f.exidx
	row.Begin, row.End = max(row.Begin, f.lo), min(row.End, f.hi)
	m.text.Begin(armRA)
	m.text.Add(&row)
}
