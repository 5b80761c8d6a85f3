package unwind

import (
	"symkit/cfi"
	"symkit/check/internal/checks"
	"symkit/check/internal/pcs"
)

// Register numbers of ARM's return address and frame pointer.
const armLR = 14

// readExidx reads the rows of ARM's exception index table into u.sframe.
func (u *unwinder) readExidx() {
	r, f := u.r, u.r.Image.Main
	index := f.Section(".ARM.exidx")
	if !cfi.ExidxMachine(f.Machine, f.Class) || index == nil || !index.Present() {
		return
	}

	// Longer entries are in a table of their own, which small programs do not have.
	x := cfi.Exidx{IndexAddr: index.Addr, BigEndian: f.BigEndian}
	var err error
	x.Index, err = index.Data()
	if err != nil {
		u.c.Unverified(checks.CFI, 1, err.Error())
		return
	}
	if table := f.Section(".ARM.extab"); table != nil && table.Present() {
		x.Table, err = table.Data()
		if err != nil {
			u.c.Unverified(checks.CFI, 1, err.Error())
			return
		}
		x.TableAddr = table.Addr
	}
	for _, c := range r.Code {
		x.End = max(x.End, c.Hi)
	}

	// An entry of the index ends where the next one begins, the last one where the code does.
	for row, err := range x.Rows() {
		if err != nil {
			u.c.Unverified(checks.CFI, 1, err.Error())
			continue
		}
		for _, c := range r.Code {
			if row.Begin >= c.Lo && row.Begin < c.Hi {
				u.addRow(row, min(row.End, c.Hi), armLR)
			}
		}
	}

	u.sframe = pcs.Disjoint(u.sframe)
}
