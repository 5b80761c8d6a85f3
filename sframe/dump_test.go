package sframe

import (
	"fmt"
	"io"
	"strconv"

	"symkit/cfi"
)

// dump writes the text of all chunks; see appendText.
func (s *Section) dump(w io.Writer, section string) error {
	var b []byte
	for i := range s.Chunks {
		b = s.Chunks[i].appendText(b[:0], section)
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	return nil
}

// appendText appends the chunk as "readelf --sframe" prints it: version 1 as in binutils
// 2.40, versions 2 and 3 as in 2.47. section is the name in the head line. Damage becomes
// a line with the error, which readelf does not print.
//
// appendText keeps known quirks of readelf: version 1 never shows a fixed place, and
// flexible FDEs do not show that of FP; sizes are signed; the sign of a negative CFA
// offset follows a plus; a wide CFA touches the next column; and a value at an offset
// from the CFA is without the parentheses that mark a memory access.
func (c *Chunk) appendText(b []byte, section string) []byte {
	// The header.
	b = append(b, "Contents of the SFrame section "...)
	b = append(b, section...)
	b = append(b, ":\n  Header :\n\n    Version: SFRAME_VERSION_"...)
	b = strconv.AppendUint(b, uint64(c.Version), 10)
	b = c.appendFlags(append(b, "\n    Flags: "...))
	if c.Version > 1 && c.FixedFP != 0 {
		b = fmt.Appendf(b, "    CFA fixed FP offset: %d\n", c.FixedFP)
	}
	if c.Version > 1 && c.FixedRA != 0 {
		b = fmt.Appendf(b, "    CFA fixed RA offset: %d\n", c.FixedRA)
	}

	// The functions.
	b = fmt.Appendf(b, "    Num FDEs: %d\n    Num FREs: %d\n\n  Function Index :\n", c.NumFDEs, c.NumFREs)
	for i := range int(c.NumFDEs) {
		f, err := c.FDE(i)
		if err != nil {
			b = fmt.Appendf(b, "\n    func idx [%d]: %v\n", i, err)
			continue
		}
		b = f.appendText(b)
	}
	return b
}

func (c *Chunk) appendFlags(b []byte) []byte {
	if c.Flags == 0 {
		return append(b, "NONE\n"...)
	}

	sep := ""
	for i, name := range []string{"SFRAME_F_FDE_SORTED", "SFRAME_F_FRAME_POINTER", "SFRAME_F_FDE_FUNC_START_PCREL"} {
		if c.Flags&(1<<i) != 0 {
			b = append(append(b, sep...), name...)
			sep = ",\n           "
		}
	}
	return append(b, '\n')
}

func (f *FDE) appendText(b []byte) []byte {
	b = fmt.Appendf(b, "\n    func idx [%d]: pc = 0x%x, size = %d bytes", f.Index, f.Start, int32(f.Size))
	switch {
	case f.Signal && f.Flex:
		b = append(b, `, attr = "SF"`...)
	case f.Signal:
		b = append(b, `, attr = "S"`...)
	case f.Flex:
		b = append(b, `, attr = "F"`...)
	}
	if f.KeyB {
		b = append(b, ", pauth = B key"...)
	}

	// FREs of a repeating FDE start from 0, under a marked column.
	mask := ""
	base := f.Start
	if f.PCMask {
		mask, base = "[m]", 0
	}

	b = fmt.Appendf(b, "\n    STARTPC%-8s CFA       FP        RA           \n", mask)
	for e, err := range f.FREs() {
		if err != nil {
			b = fmt.Appendf(b, "    %v\n", err)
			break
		}
		b = fmt.Appendf(b, "    %016x  ", base+uint64(e.Start))
		b = append(f.appendRules(b, &e), '\n')
	}
	return b
}

// appendRules appends the columns CFA, FP and RA.
func (f *FDE) appendRules(b []byte, e *FRE) []byte {
	if e.Outermost() {
		return append(b, "RA undefined"...)
	}

	// Columns are padded but never cut.
	cfa, ra, fp := f.Rules(e)
	at := len(b)
	b = pad(f.appendCFA(b, cfa), at+10)
	at = len(b)
	if f.shadowsFP(e) {
		fp = cfi.Rule{}
	}

	b = pad(f.appendSaved(b, fp, "u"), at+10)
	at = len(b)
	b = f.appendRA(b, e, ra)
	if e.mangled() {
		b = append(b, "[s]"...)
	} else {
		b = append(b, "   "...)
	}
	return pad(b, at+13)
}

// shadowsFP reports whether readelf does not show the fixed place of FP.
func (f *FDE) shadowsFP(e *FRE) bool {
	if f.chunk.FixedFP == 0 {
		return false
	}
	_, fpAt, _ := e.pairs()
	return f.chunk.Version == 1 || f.Flex && (fpAt == 0 || e.control(fpAt) == 0)
}

func pad(b []byte, end int) []byte {
	for len(b) < end {
		b = append(b, ' ')
	}
	return b
}

func (f *FDE) appendCFA(b []byte, r cfi.Rule) []byte {
	if f.Flex {
		return f.appendSaved(b, r, "")
	}
	b = append(f.appendReg(b, r.Reg), '+')
	return strconv.AppendInt(b, r.Off, 10)
}

func (f *FDE) appendRA(b []byte, e *FRE, ra cfi.Rule) []byte {
	c := f.chunk
	first, fixed := 1, c.FixedRA != 0
	if f.Flex {
		first = 2
	}

	// A fixed RA is "f", "u" in version 1; a padding word is "U".
	switch {
	case c.Version == 1 && fixed:
		return append(b, 'u')
	case fixed && (!f.Flex || int(e.N) <= first):
		return append(b, 'f')
	case int(e.N) > first && e.Words[first] == 0:
		return append(b, 'U')
	}
	return f.appendSaved(b, ra, "u")
}

// appendSaved appends the text of a rule, or none for KindNone.
func (f *FDE) appendSaved(b []byte, r cfi.Rule, none string) []byte {
	switch r.Kind {
	case cfi.KindReg:
		b = f.appendReg(b, r.Reg)
		if !f.Flex {
			return b
		}
	case cfi.KindMemReg:
		b = f.appendReg(append(b, '('), r.Reg)
		return append(appendSigned(b, r.Off), ')')
	case cfi.KindMemCFA, cfi.KindCFA:
		b = append(b, 'c')
	default:
		return append(b, none...)
	}
	return appendSigned(b, r.Off)
}

func appendSigned(b []byte, v int64) []byte {
	if v >= 0 {
		b = append(b, '+')
	}
	return strconv.AppendInt(b, v, 10)
}

// appendReg appends the name that readelf prints for a register.
func (f *FDE) appendReg(b []byte, r cfi.Reg) []byte {
	switch r {
	case f.chunk.ABI.SP():
		return append(b, "sp"...)
	case f.chunk.ABI.FP():
		return append(b, "fp"...)
	}
	return strconv.AppendUint(append(b, 'r'), uint64(r), 10)
}
