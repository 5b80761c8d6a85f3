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
func (d *dumper) listExidx(t *frameTable) (frames []frame) {
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
	t.stats.loss(err)
	if table := f.Section(".ARM.extab"); table != nil && table.Present() {
		x.TableAddr = table.Addr
		x.Table, err = table.Data()
		t.stats.loss(err)
	}
	for row, err := range x.Rows() {
		if err != nil {
			t.stats.loss(fmt.Errorf("%s: %w", f.Path(), err))
		} else if row.Begin < row.End && d.holdsCode(t, row.Begin) {
			kept := *row
			kept.Regs = slices.Clone(row.Regs)
			kept.End = min(row.End, d.code.EndOf(row.Begin))
			frames = append(frames, frame{kept.Begin, kept.End, uint64(len(t.exidx)), fromExidx, false})
			t.exidx = append(t.exidx, kept)
		}
	}
	return frames
}

// exidx writes the row of f.
func (m *merger) exidx(f *frame) {
	row := m.t.exidx[f.at]
	row.Begin, row.End = max(row.Begin, f.lo), min(row.End, f.hi)
	m.text.Begin(armRA)
	m.text.Add(&row)
}
