package sframe

import "symkit/cfi"

// Rules returns the rules of the CFA, the return address and the frame pointer. KindNone
// means that the register is unchanged. If the FRE is outermost, the return address is
// undefined and the other rules are not known.
func (f *FDE) Rules(e *FRE) (cfa, ra, fp cfi.Rule) {
	switch {
	case e.N == 0:
		return cfi.Rule{}, cfi.Rule{Kind: cfi.KindUndefined}, cfi.Rule{}
	case f.Flex:
		return f.flexRules(e)
	}
	return f.defaultRules(e)
}

// defaultRules reads the words of a default FDE: CFA, RA unless its place is fixed, and
// FP (SFrame V3 §3.1).
func (f *FDE) defaultRules(e *FRE) (cfa, ra, fp cfi.Rule) {
	ra, fp = f.defaultSaved(e)
	return f.defaultCFA(e), ra, fp
}

func (f *FDE) defaultCFA(e *FRE) cfi.Rule {
	cfa := cfi.Rule{Kind: cfi.KindReg, Reg: f.chunk.fp, Off: f.chunk.cfaOffset(e.Words[0])}
	if e.Info&freBaseSP != 0 {
		cfa.Reg = f.chunk.sp
	}
	return cfa
}

func (f *FDE) defaultSaved(e *FRE) (ra, fp cfi.Rule) {
	c := f.chunk
	i := uint8(1)
	if c.FixedRA != 0 {
		ra = memCFA(int64(c.FixedRA))
	} else {
		// A word of 0 is padding before the FP word.
		if i < e.N && e.Words[i] != 0 {
			ra = f.saved(e.Words[i])
		}
		i++
	}

	// The FP word comes after that of the RA.
	if c.FixedFP != 0 {
		fp = memCFA(int64(c.FixedFP))
	} else if i < e.N {
		fp = f.saved(e.Words[i])
	}
	return ra, fp
}

// saved returns the rule of an RA or FP word of a default FDE.
func (f *FDE) saved(w int32) cfi.Rule {
	// On s390x in version 2, an odd word is a register (errata).
	if f.chunk.regWords && w&1 != 0 {
		return cfi.Rule{Kind: cfi.KindReg, Reg: cfi.Reg(w >> 1)}
	}
	return memCFA(int64(w))
}

// topmostOnly reports whether the FRE holds in the innermost frame only: on s390x, the
// return address or the frame pointer is then still in a register that calls do not
// preserve (SFrame V3 §3.1.3).
func (f *FDE) topmostOnly(e *FRE) bool {
	if f.chunk.ABI != S390X || e.N == 0 {
		return false
	}
	_, ra, fp := f.Rules(e)
	return ra.Kind == cfi.KindNone || ra.Kind == cfi.KindReg || fp.Kind == cfi.KindReg
}
