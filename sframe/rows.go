package sframe

import (
	"iter"

	"symkit/cfi"
)

// Rows yields the function's rows in address order: one per FRE that describes
// a PC, of a repeating FDE one per FRE and block. The rules of a row are those
// of the CFA, RA and FP, and on s390x of the SP (CFA - 160); a register that is
// unchanged has none. Where the stack ends, RA's rule is KindUndefined and the
// CFA's KindNone.
//
// Damage ends the rows with one error; the row in front of an FRE whose start
// cannot be read is lost too, as nothing tells its end. The row lies in the FDE
// and is valid until the next one. Only its Begin and End may be changed; a copy
// that is to be kept needs Regs of its own.
func (f *FDE) Rows() iter.Seq2[*cfi.Row, error] {
	return func(yield func(*cfi.Row, error) bool) { f.rows(yield) }
}

// Current is the FRE behind the row that Rows has yielded last: what a cfi.Row
// cannot hold (TopmostOnly takes it).
func (f *FDE) Current() *FRE { return &f.cur }

func (f *FDE) rows(yield func(*cfi.Row, error) bool) {
	if f.NumFREs == 0 || f.Size == 0 {
		return
	}
	size, span := uint64(f.Size), f.span
	for at := uint64(0); at < size; at += span {
		if !f.block(f.Start+at, min(span, size-at), yield) {
			return
		}
	}
}

// block yields the rows of one pass over the FREs, for size bytes from base.
func (f *FDE) block(base, size uint64, yield func(*cfi.Row, error) bool) bool {
	c := f.cursor()
	e, row := &f.cur, &f.row
	at, start, info := f.readHead(&c, 0)
	for left := f.NumFREs; left > 0; left-- {
		e.Offset, e.Start, e.Info = at, start, info
		f.readWords(&c, e)
		begin, end := uint64(start), size
		if left > 1 {
			at, start, info = f.readHead(&c, start)
			end = min(end, uint64(start))
		}
		if err := c.Err(); err != nil {
			yield(nil, err)
			return false
		}
		if begin < end {
			row.Begin, row.End = base+begin, base+end
			f.fill(row, e)
			if !yield(row, nil) {
				return false
			}
		}
	}
	return true
}

// fill sets the rules of the row, registers ascending: on every ABI the number
// of FP is below that of RA; SP's, in a row on s390x only, is above both.
func (f *FDE) fill(row *cfi.Row, e *FRE) {
	var ra, fp cfi.Rule
	row.CFA, ra, fp = f.Rules(e)
	n := 0
	if fp.Kind != cfi.KindNone {
		f.regs[n] = cfi.RegRule{Reg: f.chunk.fp, Rule: fp}
		n++
	}
	if ra.Kind != cfi.KindNone {
		f.regs[n] = cfi.RegRule{Reg: f.chunk.ra, Rule: ra}
		n++
	}
	if f.chunk.ABI == S390X && e.N != 0 {
		f.regs[n] = cfi.RegRule{Reg: f.chunk.sp, Rule: cfi.Rule{Kind: cfi.KindCFA, Off: s390xSPOffset}}
		n++
	}
	row.Regs = f.regs[:n]
	row.RASigned = e.Mangled()
}

// Find gives the FRE for a PC: the last whose start is not behind it (SFrame
// V3, Appendix A). ok is false if none describes it.
func (f *FDE) Find(pc uint64) (e FRE, ok bool, err error) {
	if pc < f.Start || pc >= f.End() {
		return FRE{}, false, nil
	}
	off := pc - f.Start
	if f.PCMask {
		off %= uint64(f.RepSize)
	}
	for next, err := range f.FREs() {
		if err != nil {
			return FRE{}, false, err
		}
		if uint64(next.Start) > off {
			break
		}
		e, ok = next, true
	}
	return e, ok, nil
}
