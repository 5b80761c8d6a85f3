package code

import (
	"golang.org/x/arch/x86/x86asm"

	"symkit/cfi"
	"symkit/walk/internal/x86"
)

// AMD64 and I386 are the instruction sets of x86 with words of 64 and 32 bits.
var (
	AMD64 Decoder = amd64{}
	I386  Decoder = i386{}
)

type (
	amd64 struct{}
	i386  struct{}
)

// x86Regs maps the numbers of 32-bit x86's registers in instructions to their DWARF
// numbers, which are the same.
var x86Regs = [16]cfi.Reg{0, 1, 2, 3, 4, 5, 6, 7}

func (amd64) step(code []byte, pc uint64, e *effect) bool {
	return (&x86Step{e: e, regs: &x86.DWARF64, word: 8}).step(code, pc)
}

func (i386) step(code []byte, pc uint64, e *effect) bool {
	return (&x86Step{e: e, regs: &x86Regs, word: 4}).step(code, pc)
}

// x86Step is the decoding of one instruction. It finds the effect of the instruction on
// the stack pointer, on its copies in registers, and on the words that these point to.
type x86Step struct {
	in   x86.Inst
	e    *effect
	regs *[16]cfi.Reg
	word int64 // 4 or 8
}

func (s *x86Step) step(code []byte, pc uint64) (ok bool) {
	s.in, ok = x86.Decode(code, int(8*s.word))
	if !ok {
		return false
	}
	s.e.size = uint64(s.in.Len)
	if !s.branch(pc+s.e.size) && !s.stack() {
		s.data()
	}
	return true
}

// reg returns the DWARF number of a general register, None for other operands.
func (s *x86Step) reg(arg x86asm.Arg) cfi.Reg {
	if r, ok := arg.(x86asm.Reg); ok {
		if n, ok := x86.Number(r); ok {
			return s.regs[n]
		}
	}
	return None
}

// whole returns the DWARF number of a register if arg is all of one.
func (s *x86Step) whole(arg x86asm.Arg) (cfi.Reg, bool) {
	r, _ := arg.(x86asm.Reg)
	first := x86asm.RAX
	if s.word == 4 {
		first = x86asm.EAX
	}
	reg := s.reg(arg)
	return reg, reg != None && r >= first && r <= first+15
}

// push adds the effect of a push of a register, or of another operand if reg is None.
func (s *x86Step) push(reg cfi.Reg) {
	sp := s.regs[4]
	s.e.add(opMove, sp, sp, -s.word)
	if reg != None {
		s.e.add(opStore, reg, sp, 0)
	}
}

func (s *x86Step) pop(reg cfi.Reg) {
	sp := s.regs[4]
	if reg != None {
		s.e.add(opLoad, reg, sp, 0)
	}
	s.e.add(opMove, sp, sp, s.word)
}

// branch interprets instructions that do not continue at the next one.
func (s *x86Step) branch(next uint64) bool {
	rel, direct := s.in.Args[0].(x86asm.Rel)
	switch s.in.Op {
	case x86asm.JMP, x86asm.LJMP:
		// A jump through a register or memory may go anywhere.
		s.e.flow = flowTable
		if direct {
			s.e.flow, s.e.target = flowJump, next+uint64(rel)
		}
	case x86asm.CALL, x86asm.LCALL:
		s.e.flow = flowCall
		if direct && rel == 0 && s.word == 4 { // call next; pop
			s.e.flow = flowNext
			s.push(None)
		}
	case x86asm.RET, x86asm.LRET, x86asm.IRET, x86asm.IRETD, x86asm.IRETQ, x86asm.HLT, x86asm.UD2:
		s.e.flow = flowEnd
	case x86asm.INT:
		if s.in.Opcode>>24 != 0xcc { // not int3
			return true
		}
		s.e.flow = flowEnd
	default:
		if direct { // jcc, loop
			s.e.flow, s.e.target = flowBranch, next+uint64(rel)
		}
		return direct
	}
	return true
}

// stack interprets instructions that push and pop.
func (s *x86Step) stack() bool {
	switch s.in.Op {
	case x86asm.PUSH:
		s.push(s.reg(s.in.Args[0]))
	case x86asm.POP:
		s.pop(s.reg(s.in.Args[0]))
	case x86asm.PUSHF, x86asm.PUSHFD, x86asm.PUSHFQ:
		s.push(None)
	case x86asm.POPF, x86asm.POPFD, x86asm.POPFQ:
		s.pop(None)
	case x86asm.LEAVE:
		s.e.add(opMove, s.regs[4], s.regs[5], 0)
		s.pop(s.regs[5])
	default:
		return false
	}
	return true
}

// data interprets instructions that copy, add and subtract.
func (s *x86Step) data() {
	switch s.in.Op {
	case x86asm.MOV, x86asm.LEA:
		s.move()
	case x86asm.ADD, x86asm.SUB:
		dst, ok := s.whole(s.in.Args[0])
		imm, constant := s.in.Args[1].(x86asm.Imm)
		src, register := s.whole(s.in.Args[1])
		// Only sums of whole registers with constants keep the distance known.
		switch sub := s.in.Op == x86asm.SUB; {
		case ok && constant && sub:
			s.e.add(opMove, dst, dst, -int64(imm))
		case ok && constant:
			s.e.add(opMove, dst, dst, int64(imm))
		case ok && register && sub:
			s.e.add(opSub, dst, src, 0)
		default:
			s.lose()
		}
	default:
		s.change()
	}
}

// lose records a change of the first operand to a value that is not followed.
func (s *x86Step) lose() {
	reg := s.reg(s.in.Args[0])
	if reg == s.regs[4] {
		s.e.add(opLose, reg, 0, 0)
		return
	}
	s.e.change(reg)
}

// change records the results of an instruction that is not followed.
func (s *x86Step) change() {
	switch s.in.Op {
	case x86asm.CMP, x86asm.TEST, x86asm.BT, x86asm.NOP:
	case x86asm.MUL, x86asm.IMUL, x86asm.DIV, x86asm.IDIV, x86asm.CDQ, x86asm.CQO, x86asm.CDQE, x86asm.CWDE, x86asm.CPUID, x86asm.RDTSC:
		s.lose()
		s.e.change(s.regs[0], s.regs[1], s.regs[2], s.regs[3])
	case x86asm.XCHG, x86asm.XADD:
		s.e.change(s.reg(s.in.Args[1]))
		s.lose()
	default:
		s.lose()
	}
}

// move interprets mov and lea.
func (s *x86Step) move() {
	from, load := s.in.Args[1].(x86asm.Mem)
	to, store := s.in.Args[0].(x86asm.Mem)
	dst, wholeDst := s.whole(s.in.Args[0])
	src, wholeSrc := s.whole(s.in.Args[1])
	imm, constant := s.in.Args[1].(x86asm.Imm)
	// A store changes no register.
	switch {
	case constant && s.reg(s.in.Args[0]) != None:
		s.e.add(opConst, s.reg(s.in.Args[0]), 0, int64(imm))
	case load && wholeDst && s.plain(from) && s.in.Op == x86asm.LEA:
		s.e.add(opMove, dst, s.reg(from.Base), displacement(from))
	case s.in.Op == x86asm.LEA:
		s.lose()
	case load && wholeDst && s.plain(from):
		s.e.add(opLoad, dst, s.reg(from.Base), displacement(from))
	case store && wholeSrc && s.plain(to):
		s.e.add(opStore, src, s.reg(to.Base), displacement(to))
	case wholeDst && wholeSrc:
		s.e.add(opMove, dst, src, 0)
	default:
		s.lose()
	}
}

// plain reports whether an operand is counted from a general register alone.
func (s *x86Step) plain(m x86asm.Mem) bool { return m.Index == 0 && s.reg(m.Base) != None }

// displacement is signed; x86asm zero-extends that of 32-bit code.
func displacement(m x86asm.Mem) int64 { return int64(int32(m.Disp)) }
