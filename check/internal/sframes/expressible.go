package sframes

import (
	"symkit/cfi"
	"symkit/sframe"
)

// inexpressible returns why the rows of a DWARF FDE cannot be rows of SFrame, or may have been left
// out by an assembler, "" if they can. The versions are those of the headers.
func (v *verifier) inexpressible(p *part) string {
	fde := &p.fde
	version := uint8(3)
	for i := range v.tables {
		if t := &v.tables[i]; t.parsed != nil && len(t.parsed.Chunks) > 0 {
			version = min(version, t.parsed.Chunks[0].Version)
		}
	}
	switch {
	case fde.CIE.RA != v.abi.RA():
		return "with the return address in another column"
	case fde.PushesArguments():
		return "that push arguments, which assemblers leave out"
	}

	flexible := version >= 3 && (v.abi == sframe.AMD64 || v.abi == sframe.S390X)
	for row, err := range fde.Rows() {
		if err != nil {
			return "with damaged rules"
		}
		why := v.inexpressibleRow(row, version, flexible)
		if why != "" {
			// Version 3 has an FDE without rows for such a trampoline.
			if fde.CIE.Signal && version >= 3 {
				return ""
			}
			return why
		}
	}
	return ""
}

func (v *verifier) inexpressibleRow(row *cfi.Row, version uint8, flexible bool) string {
	ra, fp, sp := row.Rule(v.abi.RA()), row.Rule(v.abi.FP()), row.Rule(v.abi.SP())
	registers := flexible || version == 2 && v.abi == sframe.S390X
	undefined := ra.Kind == cfi.KindUndefined
	fixed := v.abi != sframe.AMD64 || ra.Kind == cfi.KindMemCFA && ra.Off == -8
	aarch64 := v.abi == sframe.AArch64LE || v.abi == sframe.AArch64BE
	saved := func(r cfi.Rule) bool {
		switch r.Kind {
		case cfi.KindMemCFA:
			return true
		case cfi.KindReg:
			return registers
		case cfi.KindMemExpr, cfi.KindCFA:
			return false // GNU as knows one expression, with which it leaves most functions out
		}
		return r.Kind == cfi.KindNone || r.Kind == cfi.KindSame
	}
	switch {
	case undefined:
		return ""
	case row.CFA.Kind != cfi.KindReg:
		return "with a CFA that is an expression"
	case row.CFA.Reg != v.abi.SP() && row.CFA.Reg != v.abi.FP() && !flexible:
		return "with a CFA of another register"
	case !saved(ra) || !fixed && !flexible:
		return "with a return address in an unusual place"
	case !saved(fp):
		return "with a frame pointer in an unusual place"
	case aarch64 && saved(fp) && fp.Kind == cfi.KindMemCFA && ra.Kind != cfi.KindMemCFA:
		return "that save the frame pointer without the return address"
	case sp.Kind != cfi.KindNone && sp.Kind != cfi.KindSame && v.abi != sframe.S390X && !(sp.Kind == cfi.KindCFA && sp.Off == 0):
		return "with a rule for the stack pointer"
	case v.abi == sframe.S390X && sp.Kind == cfi.KindReg:
		return "with a rule for the stack pointer"
	}
	return ""
}
