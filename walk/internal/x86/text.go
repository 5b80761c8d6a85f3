package x86

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/arch/x86/x86asm"
)

// Text spells the instruction as rust-minidump does: Intel's order, a size before
// operands in memory, numbers in hexadecimal, targets of branches as distances from
// the next instruction. Text returns "" if x86asm does not know the instruction, or
// takes it for another.
func (in *Inst) Text() string {
	if in.replaced || misread(&in.Inst) {
		return ""
	}
	s := speller{in}
	return strings.TrimSuffix(s.prefixes()+s.name()+" "+strings.Join(s.operands(), ", "), " ")
}

// misread reports whether x86asm takes the bytes for an instruction that they are not.
func misread(in *x86asm.Inst) bool {
	_, memory := in.Args[0].(x86asm.Mem)
	switch {
	case slices.ContainsFunc(in.Prefix[:], func(p x86asm.Prefix) bool { return p&x86asm.PrefixInvalid != 0 }):
		return true // a lock prefix on an instruction that has none
	case in.Op == x86asm.MOV && in.Args[0] == x86asm.CS, in.Op == x86asm.RDRAND && in.Args[0] == nil:
		return true
	case memory && in.Opcode>>16 == 0x0fae: // prefixes make others of these: clwb of xsaveopt
		return slices.ContainsFunc(in.Prefix[:], func(p x86asm.Prefix) bool {
			p &= 0xff
			return p == x86asm.PrefixDataSize || p == x86asm.PrefixREP || p == x86asm.PrefixREPN
		})
	}
	return in.Op == 0
}

// speller spells one instruction.
type speller struct{ in *Inst }

// prefixes returns the prefixes that are part of the text.
func (s *speller) prefixes() (text string) {
	for _, p := range s.in.Prefix {
		switch {
		case p == 0:
			return text
		case p.IsVEX(), p.IsEVEX():
			return text
		case p&(x86asm.PrefixImplicit|x86asm.PrefixIgnored) != 0:
		case p == x86asm.PrefixLOCK:
			text += "lock "
		default:
			text = prefixNames[p] + text
		}
	}
	return text
}

var prefixNames = map[x86asm.Prefix]string{
	x86asm.PrefixREP: "rep ", x86asm.PrefixREPN: "repnz ", x86asm.PrefixXACQUIRE: "xacquire ", x86asm.PrefixXRELEASE: "xrelease ",
}

// name returns the name of the instruction as rust-minidump spells it.
func (s *speller) name() string {
	if name, ok := otherNames[s.in.Op]; ok {
		return name
	}
	return strings.ToLower(s.in.Op.String())
}

var otherNames = map[x86asm.Op]string{
	x86asm.JAE: "jnb", x86asm.JBE: "jna", x86asm.JE: "jz", x86asm.JNE: "jnz",
	x86asm.CMOVAE: "cmovnb", x86asm.CMOVBE: "cmovna", x86asm.CMOVE: "cmovz", x86asm.CMOVNE: "cmovnz",
	x86asm.SETE: "setz", x86asm.SETNE: "setnz",
	x86asm.MOVSD_XMM: "movsd", x86asm.CMPSD_XMM: "cmpsd",
	x86asm.MOVSB: "movs", x86asm.MOVSW: "movs", x86asm.MOVSD: "movs", x86asm.MOVSQ: "movs",
	x86asm.CMPSB: "cmps", x86asm.CMPSW: "cmps", x86asm.CMPSD: "cmps", x86asm.CMPSQ: "cmps",
	x86asm.STOSB: "stos", x86asm.STOSW: "stos", x86asm.STOSD: "stos", x86asm.STOSQ: "stos",
	x86asm.LODSB: "lods", x86asm.LODSW: "lods", x86asm.LODSD: "lods", x86asm.LODSQ: "lods",
	x86asm.SCASB: "scas", x86asm.SCASW: "scas", x86asm.SCASD: "scas", x86asm.SCASQ: "scas",
	x86asm.INSB: "ins", x86asm.INSW: "ins", x86asm.INSD: "ins", x86asm.OUTSB: "outs", x86asm.OUTSW: "outs", x86asm.OUTSD: "outs",
	x86asm.FWAIT: "wait", x86asm.ICEBP: "int", x86asm.LCALL: "callf", x86asm.LJMP: "jmpf", x86asm.LRET: "retf",
	x86asm.LOOPE: "loopz", x86asm.LOOPNE: "loopnz", x86asm.PUSHFQ: "pushf", x86asm.POPFQ: "popf", x86asm.XLATB: "xlat",
}

// operands returns the operands that are spelled, in the order of the text.
func (s *speller) operands() (out []string) {
	in := s.in
	for i, a := range in.Args {
		if a == nil {
			break
		}
		// A segment register is loaded from the lower 16 bits of a register.
		if r, ok := a.(x86asm.Reg); ok && i == 1 && in.Op == x86asm.MOV && segment(in.Args[0]) && r >= x86asm.EAX && r <= x86asm.R15L {
			a = r - x86asm.EAX + x86asm.AX
		}
		// A mask is spelled after the first operand, without a comma.
		if k, ok := a.(x86asm.Reg); ok && i == 1 && s.masks(k) {
			out[0] += s.mask(k)
			continue
		}
		out = append(out, s.operand(a))
	}

	// Some instructions have more or fewer operands in the text than in x86asm, or another
	// order.
	switch {
	case in.Op == x86asm.XLATB:
		return nil
	case len(out) == 2 && (in.Op == x86asm.LCALL || in.Op == x86asm.LJMP):
		return []string{out[0] + ":" + out[1]}
	case in.Op == x86asm.ICEBP:
		return []string{"0x1"}
	case len(out) == 1 && loadsST0[in.Op]:
		return []string{"st(0)", out[0]}
	case len(out) == 1 && storesST0[in.Op]:
		return append(out, "st(0)")
	case len(out) == 3 && usesX0[in.Op]:
		return out[:2]
	case len(out) == 2 && scans[in.Op], in.Op == x86asm.XCHG && in.Opcode>>27 == 0x90>>3:
		out[0], out[1] = out[1], out[0]
	}
	return out
}

// segment reports whether an operand is a segment register.
func segment(a x86asm.Arg) bool {
	r, ok := a.(x86asm.Reg)
	return ok && r >= x86asm.ES && r <= x86asm.GS
}

// masks reports whether the second operand is the mask of the first.
func (s *speller) masks(k x86asm.Reg) bool {
	return k >= x86asm.K0 && k <= x86asm.K7 && s.in.modRM > 0 && !strings.HasPrefix(s.in.Op.String(), "K")
}

// mask spells a mask register and zeroing; k0 stands for no mask.
func (s *speller) mask(k x86asm.Reg) (text string) {
	if k != x86asm.K0 {
		text = "{" + register(k) + "}"
	}
	if s.in.Zeroing {
		text += "{z}"
	}
	return text
}

// loadsST0 and storesST0 are the x87 instructions whose implicit operand st(0) is spelled,
// first or last. usesX0 are the instructions whose third operand is not spelled, because it
// is always xmm0. scans are the instructions whose two operands change places.
var (
	loadsST0 = set(x86asm.FLD, x86asm.FILD, x86asm.FBLD, x86asm.FADD, x86asm.FMUL, x86asm.FCOM, x86asm.FCOMP, x86asm.FSUB, x86asm.FSUBR,
		x86asm.FDIV, x86asm.FDIVR, x86asm.FIADD, x86asm.FIMUL, x86asm.FICOM, x86asm.FICOMP, x86asm.FISUB, x86asm.FISUBR,
		x86asm.FIDIV, x86asm.FIDIVR, x86asm.FXCH, x86asm.FUCOM, x86asm.FUCOMP)
	storesST0 = set(x86asm.FST, x86asm.FSTP, x86asm.FIST, x86asm.FISTP, x86asm.FISTTP, x86asm.FBSTP)
	usesX0    = set(x86asm.SHA256RNDS2, x86asm.BLENDVPD, x86asm.BLENDVPS, x86asm.PBLENDVB)
	scans     = set(x86asm.SCASB, x86asm.SCASW, x86asm.SCASD, x86asm.SCASQ)
)

// set returns the set of the given instructions.
func set(ops ...x86asm.Op) map[x86asm.Op]bool {
	m := map[x86asm.Op]bool{}
	for _, op := range ops {
		m[op] = true
	}
	return m
}

// operand spells one operand.
func (s *speller) operand(a x86asm.Arg) string {
	switch a := a.(type) {
	case x86asm.Imm:
		return s.immediate(int64(a))
	case x86asm.Rel:
		return "$" + signed(int64(a), "+", "-")
	case x86asm.Mem:
		return s.memory(a)
	case x86asm.Reg:
		return register(a)
	}
	return strings.ToLower(a.String())
}

// immediate spells a number. A number of one byte, which is the last byte of the
// instruction, has a sign, except for ports, lengths, selections and the like.
func (s *speller) immediate(v int64) string {
	if v >= 0x80 && v == int64(s.in.code[len(s.in.code)-1]) && s.in.modRM == 0 && !unsigned[s.in.Op] &&
		(s.in.Op != x86asm.MOV || s.in.Opcode>>28 != 0xb) {
		v -= 0x100
	}
	return signed(v, "", "-")
}

var unsigned = set(x86asm.INT, x86asm.IN, x86asm.OUT, x86asm.AAM, x86asm.AAD, x86asm.ENTER, x86asm.AESKEYGENASSIST,
	x86asm.PINSRB, x86asm.PINSRW, x86asm.PINSRD, x86asm.PINSRQ, x86asm.PEXTRB, x86asm.PEXTRW, x86asm.PEXTRD, x86asm.PEXTRQ,
	x86asm.INSERTPS, x86asm.EXTRACTPS, x86asm.PSLLW, x86asm.PSLLD, x86asm.PSLLQ, x86asm.PSRLW, x86asm.PSRLD, x86asm.PSRLQ,
	x86asm.PSRAW, x86asm.PSRAD)

// signed puts one of two signs before a number.
func signed(v int64, plus, minus string) string {
	if v < 0 {
		return fmt.Sprintf("%s%#x", minus, uint64(-v))
	}
	return fmt.Sprintf("%s%#x", plus, v)
}

// memory spells an operand in memory.
func (s *speller) memory(m x86asm.Mem) string {
	text := s.size() + s.segment(m.Segment) + "["

	// Without a base and an index, the displacement is the address, which has no sign.
	switch {
	case m.Base != 0 && m.Index != 0:
		text += fmt.Sprintf("%s + %s * %d", register(m.Base), register(m.Index), m.Scale)
	case m.Index != 0:
		text += fmt.Sprintf("%s * %d", register(m.Index), m.Scale)
	case m.Base != 0:
		text += register(m.Base)
	default:
		if s.in.modRM > 0 {
			m.Disp = int64(uint32(m.Disp))
		}
		return fmt.Sprintf("%s%#x]", text, uint64(m.Disp))
	}

	// After a register, the displacement is a distance.
	if disp := int64(int32(m.Disp)); disp != 0 {
		text += signed(disp, " + ", " - ")
	}
	return text + "]" + s.broadcast()
}

// segment spells the segment of an operand in memory, unless it is the usual one. The
// operands of movs, cmps, stos and scas always have it.
func (s *speller) segment(r x86asm.Reg) string {
	switch name := otherNames[s.in.Op]; {
	case r == 0, r == x86asm.DS && (name == "lods" || name == "outs"), r == x86asm.ES && name == "ins":
		return ""
	case name == "movs", name == "cmps", name == "stos", name == "scas":
	case s.in.Mode == 64 && r != x86asm.FS && r != x86asm.GS:
		return ""
	}
	return register(r) + ":"
}

// broadcast spells how many elements of the vector have the value of the operand.
func (s *speller) broadcast() string {
	v, ok := s.in.Args[0].(x86asm.Reg)
	if !s.in.Broadcast || !ok || s.in.MemBytes == 0 {
		return ""
	}

	// The number of elements follows from the width of the vector.
	width := 16
	switch {
	case v >= x86asm.Z0 && v <= x86asm.Z31:
		width = 64
	case v >= x86asm.Y0 && v <= x86asm.Y31:
		width = 32
	}
	return fmt.Sprintf("{1to%d}", width/s.in.MemBytes)
}

// sizeNames are the names of the sizes of operands, by their bytes.
var sizeNames = map[int]string{1: "byte ", 2: "word ", 4: "dword ", 6: "far ", 8: "qword ", 10: "mword ", 16: "xmmword ", 32: "ymmword ", 64: "zmmword "}

// size spells the size of an operand in memory.
func (s *speller) size() string {
	// x86asm does not have the size of some operands.
	size, op := s.in.MemBytes, s.in.Op
	switch {
	case op == x86asm.LEA:
		size = s.in.DataSize / 8
	case otherNames[op] != "" && size == 0:
		size = stringSize(op)
	case size == 0 && (op == x86asm.FLD || op == x86asm.FSTP || op == x86asm.FBLD || op == x86asm.FBSTP):
		size = 10
	case size == 0 && lines[op]:
		size = 64
	case op == x86asm.INVLPG:
		size = 1
	case size == 0 && tables[op]:
		size = 2 + s.in.Mode/8
	}

	if name, ok := sizeNames[size]; ok {
		return name
	}
	return "ptr "
}

// stringSize returns the size of a string instruction's operands, which the last letter of
// its name stands for.
func stringSize(op x86asm.Op) int {
	name := op.String()
	return map[byte]int{'B': 1, 'W': 2, 'D': 4, 'Q': 8}[name[len(name)-1]]
}

// lines are the instructions whose operand is a cache line, tables those whose operand is a
// descriptor table.
var (
	lines  = set(x86asm.PREFETCHT0, x86asm.PREFETCHT1, x86asm.PREFETCHT2, x86asm.PREFETCHNTA, x86asm.PREFETCHW, x86asm.CLFLUSH)
	tables = set(x86asm.SGDT, x86asm.SIDT, x86asm.LGDT, x86asm.LIDT)
)

// register spells a register.
func register(r x86asm.Reg) string {
	switch {
	case r >= x86asm.SPB && r <= x86asm.DIB:
		return [...]string{"spl", "bpl", "sil", "dil"}[r-x86asm.SPB]
	case r >= x86asm.R8L && r <= x86asm.R15L:
		return fmt.Sprintf("r%dd", 8+r-x86asm.R8L)
	case r >= x86asm.F0 && r <= x86asm.F7:
		return fmt.Sprintf("st(%d)", r-x86asm.F0)
	case r >= x86asm.M0 && r <= x86asm.M7:
		return fmt.Sprintf("mm%d", r-x86asm.M0)
	case r >= x86asm.X0 && r <= x86asm.X31:
		return fmt.Sprintf("xmm%d", r-x86asm.X0)
	case r >= x86asm.Y0 && r <= x86asm.Y31:
		return fmt.Sprintf("ymm%d", r-x86asm.Y0)
	case r >= x86asm.Z0 && r <= x86asm.Z31:
		return fmt.Sprintf("zmm%d", r-x86asm.Z0)
	}
	return strings.ToLower(r.String())
}
