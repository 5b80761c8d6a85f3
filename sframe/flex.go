package sframe

import (
	"symkit/cfi"
	"symkit/internal/wire"
)

// Bits of a control word (SFrame V3 §3.2).
const (
	ctrlReg      = 1
	ctrlDeref    = 2
	ctrlRegShift = 3
)

// Control is word i as the control word of a flexible FDE: unsigned.
func (e *FRE) Control(i int) uint32 {
	return uint32(e.Words[i]) & (1<<(8*e.WordSize()) - 1)
}

// pairs finds the pairs of control word and offset in a flexible FRE: ra and fp
// are the index of the control word, or 0 where there is none. rest is the
// index of the first word that belongs to none.
//
// A return address without a rule is one padding word, not two, and so the
// frame pointer's pair begins at 3 or 4.
func (e *FRE) pairs() (ra, fp, rest int) {
	rest = 2
	if e.N <= 2 {
		return 0, 0, rest
	}
	if e.Words[2] == 0 {
		rest = 3
	} else if e.N >= 4 {
		ra, rest = 2, 4
	}
	if rest > 2 && int(e.N) >= rest+2 {
		fp = rest
		rest += 2
	}
	return ra, fp, rest
}

// checkFlex rejects an FRE with words that belong to no pair, other than
// padding, and a CFA that is based on itself.
func (f *FDE) checkFlex(c *wire.Cursor, e *FRE, info int) {
	if e.N == 0 {
		return
	}

	_, _, rest := e.pairs()
	for i := rest; i < int(e.N); i++ {
		if e.Words[i] != 0 {
			c.Fail(info+1+i*e.WordSize(), ErrWords)
		}
	}
	if e.N == 1 {
		c.Fail(info, ErrWords)
	}
	if e.Control(0)&ctrlReg == 0 {
		c.Fail(info+1, ErrCFA)
	}
}

// flexRules reads the words as pairs (SFrame V3 §3.2).
func (f *FDE) flexRules(e *FRE) (cfa, ra, fp cfi.Rule) {
	c := f.chunk
	cfa = e.pair(0)
	cfa.Off = c.cfaOffset(e.Words[1])
	if c.FixedRA != 0 {
		ra = memCFA(int64(c.FixedRA))
	}
	if c.FixedFP != 0 {
		fp = memCFA(int64(c.FixedFP))
	}

	raAt, fpAt, _ := e.pairs()
	if raAt != 0 {
		ra = e.pair(raAt)
	}
	if fpAt != 0 && e.Control(fpAt) != 0 {
		fp = e.pair(fpAt)
	}
	return cfa, ra, fp
}

// pair is the rule of the control word at i and the offset after that word.
func (e *FRE) pair(i int) cfi.Rule {
	ctrl := e.Control(i)
	r := cfi.Rule{Off: int64(e.Words[i+1])}
	if ctrl&ctrlReg != 0 {
		r.Reg = cfi.Reg(ctrl >> ctrlRegShift)
	}

	switch ctrl & (ctrlReg | ctrlDeref) {
	case ctrlReg | ctrlDeref:
		r.Kind = cfi.KindMemReg
	case ctrlReg:
		r.Kind = cfi.KindReg
	case ctrlDeref:
		r.Kind = cfi.KindMemCFA
	default:
		r.Kind = cfi.KindCFA
	}
	return r
}
