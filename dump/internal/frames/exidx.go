package frames

import (
	"cmp"
	"slices"

	"symkit/cfi"
)

// entrySize is the size of an entry of .ARM.exidx in bytes.
const entrySize = 8

// exidx returns the rows of ARM's exception index table whose code is in the
// file. Each row holds for a whole function.
func (x *lister) exidx() (entries []Entry) {
	f := x.img.Main
	index := f.Section(".ARM.exidx")
	if !cfi.ExidxMachine(f.Machine, f.Class) || index == nil || !index.Present() {
		return nil
	}

	// An entry of the index has no end: it ends where the next one begins, and the
	// last one at the end of code.
	in := cfi.Exidx{IndexAddr: index.Addr, BigEndian: f.BigEndian}
	n := len(x.opt.Code)
	if n > 0 {
		in.End = x.opt.Code[n-1].Hi
	}
	var err error
	in.Index, err = index.Data()
	x.lost.Add(err)
	table := f.Section(".ARM.extab")
	if table != nil && table.Present() {
		in.TableAddr = table.Addr
		in.Table, err = table.Data()
		x.lost.Add(err)
	}

	bad := 0 // rows side by side that are damaged
	for row, err := range in.Rows() {
		if err == nil {
			at := uint64(len(x.table.Exidx)) * entrySize
			err = cmp.Or(x.take(".ARM.exidx", at), x.records.Take(1, rowMemory))
		}
		if x.stops(f.Path(), err, &bad) {
			break
		}
		if err == nil && row.Begin < row.End && x.isCode(row.Begin) {
			// The iterator uses the memory of the row again.
			kept := *row
			kept.Regs = slices.Clone(row.Regs)
			kept.End = min(row.End, x.opt.Code.EndOf(row.Begin))
			entries = append(entries, Entry{kept.Begin, kept.End, uint64(len(x.table.Exidx)), Exidx, false})
			x.table.Exidx = append(x.table.Exidx, kept)
		}
	}
	return entries
}
