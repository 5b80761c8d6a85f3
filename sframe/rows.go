package sframe

import (
	"iter"

	"symkit/cfi"
	"symkit/internal/wire"
)

// Rows yields the function's rows in the order of their addresses: one per FRE that
// describes a PC, or, for a repeating FDE, one per FRE and block. A row has the rules of
// the CFA, RA and FP, and on s390x of the SP (CFA - 160); an unchanged register has no
// rule. At the end of the stack, RA's rule is KindUndefined and the CFA's KindNone.
//
// Damage ends the rows with one error. The row before an FRE whose start cannot be read
// is lost too, because its end is not known. The row is part of the FDE and valid until
// the next row. The caller may change its Begin and End only; a copy that outlives the
// row needs its own Regs.
func (f *FDE) Rows() iter.Seq2[*cfi.Row, error] {
	return func(yield func(*cfi.Row, error) bool) { f.rows(yield) }
}

// Current returns the FRE of the row that Rows yielded last: a cfi.Row does not have all
// its fields (see topmostOnly).
func (f *FDE) Current() (e FRE) {
	var c wire.Cursor
	f.cursorAt(&c, f.at)
	h := f.readHead(&c, 0)
	e.Offset, e.Start, e.Info = f.at, h.start, h.info
	f.readWords(&c, &e)
	return e
}

func (f *FDE) rows(yield func(*cfi.Row, error) bool) {
	if f.NumFREs == 0 || f.Size == 0 {
		return
	}

	// A repeating FDE has one pass per block, any other FDE one pass.
	size, span := uint64(f.Size), f.span
	for at := uint64(0); at < size; at += span {
		var p pass
		p.f, p.base, p.size, p.left = f, f.Start+at, min(span, size-at), f.NumFREs
		f.cursorAt(&p.c, f.freAt)
		if !p.rows(yield) {
			return
		}
	}
}

func (p *pass) rows(yield func(*cfi.Row, error) bool) bool {
	p.head = p.f.readHead(&p.c, 0)

	// The fast path stops at an FRE that it cannot decode; the slow path decodes that FRE.
	for p.left > 0 {
		if p.f.canFast && !p.fast(yield) {
			return false
		}
		if p.left > 0 && !p.slow(yield) {
			return false
		}
	}
	return true
}

// slow yields the row of the current FRE, which may have any form.
func (p *pass) slow(yield func(*cfi.Row, error) bool) bool {
	f := p.f
	e := FRE{Info: p.info}
	f.at = p.c.Pos() - f.addrSize - 1
	f.readWords(&p.c, &e)

	// The row ends at the start of the next FRE.
	begin, end := uint64(p.start), p.size
	p.left--
	if p.left > 0 {
		p.head = f.readHead(&p.c, p.start)
		end = min(end, uint64(p.start))
	}
	if err := p.c.Err(); err != nil {
		yield(nil, err)
		return false
	}
	if begin >= end {
		return true
	}

	f.row.Begin, f.row.End = p.base+begin, p.base+end
	f.setRules(f.Rules(&e))
	f.row.RASigned = e.mangled()
	return yield(&f.row, nil)
}

// setRules sets the rules of the row. Registers ascend: on every ABI, the number of FP is
// below that of RA; the number of SP, which only rows on s390x have, is above both.
func (f *FDE) setRules(cfa, ra, fp cfi.Rule) {
	i := len(f.regs)
	if f.chunk.ABI == S390X && cfa.Kind != cfi.KindNone {
		i--
		f.regs[i] = cfi.RegRule{Reg: f.chunk.sp, Rule: cfi.Rule{Kind: cfi.KindCFA, Off: s390xSPOffset}}
	}
	if ra.Kind != cfi.KindNone {
		i--
		f.regs[i] = cfi.RegRule{Reg: f.chunk.ra, Rule: ra}
	}
	if fp.Kind != cfi.KindNone {
		i--
		f.regs[i] = cfi.RegRule{Reg: f.chunk.fp, Rule: fp}
	}

	f.row.CFA = cfa
	f.row.Regs = f.regs[i:]
}

// Find returns the FRE for a PC: the last one whose start is not after the PC (SFrame V3,
// Appendix A). ok is false if no FRE describes the PC.
func (f *FDE) Find(pc uint64) (e FRE, ok bool, err error) {
	if pc < f.Start || pc >= f.End() {
		return FRE{}, false, nil
	}

	// In a repeating FDE, FREs start relative to the block.
	off := pc - f.Start
	if f.PCMask {
		off %= uint64(f.RepSize)
	}

	// FREs ascend, so the first FRE after the PC ends the search.
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
