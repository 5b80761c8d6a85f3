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

func memCFA(off int64) cfi.Rule { return cfi.Rule{Kind: cfi.KindMemCFA, Off: off} }

// cfaOffset returns the offset of a CFA word. On s390x, the word is scaled and biased,
// also in flexible FDEs.
func (c *Chunk) cfaOffset(w int32) int64 {
	return int64(w)*c.scale + c.bias
}

// control returns word i of an FRE of a flexible FDE as an unsigned control word.
func (e *FRE) control(i int) uint32 {
	return uint32(e.Words[i]) & (1<<(8*e.wordSize()) - 1)
}

// pairs returns the positions of the pairs of control word and offset in a flexible FRE.
// ra and fp are the indices of the control words, or 0 if there is no such pair. rest is
// the index of the first word after the pairs.
//
// A return address without a rule is one padding word instead of a pair. Therefore the
// frame pointer's pair begins at 3 or 4.
func (e *FRE) pairs() (ra, fp, rest int) {
	rest = 2
	if e.N <= 2 {
		return 0, 0, rest
	}

	// The words after the CFA's pair are those of the return address.
	if e.Words[2] == 0 {
		rest = 3
	} else if e.N >= 4 {
		ra, rest = 2, 4
	}

	// The frame pointer's pair comes last.
	if rest > 2 && int(e.N) >= rest+2 {
		fp = rest
		rest += 2
	}
	return ra, fp, rest
}

// flexRules returns the rules of an FRE of a flexible FDE (SFrame V3 §3.2).
func (f *FDE) flexRules(e *FRE) (cfa, ra, fp cfi.Rule) {
	c := f.chunk
	cfa = e.pair(0)
	cfa.Off = c.cfaOffset(e.Words[1])

	// The fixed places in the header hold unless a pair replaces them.
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
	if fpAt != 0 && e.control(fpAt) != 0 {
		fp = e.pair(fpAt)
	}
	return cfa, ra, fp
}

// pair returns the rule of the control word at i and the offset word after it.
func (e *FRE) pair(i int) cfi.Rule {
	ctrl := e.control(i)
	r := cfi.Rule{Off: int64(e.Words[i+1])}
	if ctrl&ctrlReg != 0 {
		r.Reg = cfi.Reg(ctrl >> ctrlRegShift)
	}

	// The register bit selects the base, the deref bit a load from memory.
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

// checkFlex rejects an FRE if its CFA is not based on a register, or if words after the
// pairs are not 0.
func (f *FDE) checkFlex(c *wire.Cursor, e *FRE, info int) {
	if e.N == 0 {
		return
	}

	// Words after the pairs may only be padding.
	_, _, rest := e.pairs()
	for i := rest; i < int(e.N); i++ {
		if e.Words[i] != 0 {
			c.Fail(info+1+i*e.wordSize(), errWords)
		}
	}
	if e.N == 1 {
		c.Fail(info, errWords)
	}
	if e.control(0)&ctrlReg == 0 {
		c.Fail(info+1, errCFA)
	}
}
