package plt

import (
	"debug/elf"
	"math/bits"

	"symkit/elfx"
	"symkit/internal/wire"
)

// stub is the code from one possible PLT slot on.
type stub struct {
	wire.Cursor
	pc  uint64 // virtual address of its first byte
	got uint64 // of _GLOBAL_OFFSET_TABLE_
}

// next is the virtual address of the next byte to read.
func (s *stub) next() uint64 { return s.pc + uint64(s.Pos()) }

// slotKind is how a slot's code refers to its function.
type slotKind uint8

const (
	noSlot     slotKind = iota
	slotGOT             // value: the virtual address of its GOT slot
	slotLazy            // value: the number of its entry in .rel(a).plt
	slotSymbol          // value: the number of its symbol in .dynsym
)

type slotRef struct {
	kind  slotKind
	value uint64
}

// stubDecoder recognises the code of a slot.
type stubDecoder func(stub) slotRef

// stubDecoders holds the decoder of each machine. Slots are recognised by their
// instructions, since neither sizes nor order of the slots are fixed.
var stubDecoders = map[elf.Machine]stubDecoder{
	elf.EM_386:       i386Stub,
	elf.EM_X86_64:    amd64Stub,
	elf.EM_AARCH64:   arm64Stub,
	elf.EM_ARM:       armStub,
	elf.EM_RISCV:     riscvStub,
	elf.EM_S390:      s390Stub,
	elf.EM_MIPS:      mipsStub,
	elf.EM_LOONGARCH: loongarchStub,
}

// stubStep is the distance at which a section's slots can begin.
func stubStep(s *elfx.Section) int {
	switch s.File().Machine {
	case elf.EM_386, elf.EM_X86_64:
		return 8
	case elf.EM_S390:
		return 32
	}
	return 4
}

// found returns the result of a decoder that has read all it needs.
func (s *stub) found(kind slotKind, value uint64) slotRef {
	if s.Err() != nil {
		return slotRef{}
	}
	return slotRef{kind, value}
}

// x86Opcode reads the first opcode after endbr and bnd (CET and MPX).
func x86Opcode(s *stub) uint8 {
	op := s.U8()
	if op == 0xf3 {
		s.Skip(3)
		op = s.U8()
	}
	if op == 0xf2 {
		op = s.U8()
	}
	return op
}

// amd64Stub: jmp *slot(%rip); or push n, where the jump is in .plt.sec; or mov slot(%rip), %r11 and a
// call or jump to the retpoline in the first slot.
func amd64Stub(s stub) slotRef {
	switch x86Opcode(&s) {
	case 0x68:
		return s.found(slotLazy, uint64(s.U32()))
	case 0xff:
		if s.U8() == 0x25 {
			disp := int64(int32(s.U32()))
			return s.found(slotGOT, s.next()+uint64(disp))
		}
	case 0x4c:
		if s.U8() != 0x8b || s.U8() != 0x1d {
			break
		}
		disp := int64(int32(s.U32()))
		slot := s.next() + uint64(disp)
		if isTransfer(s.U8()) {
			return s.found(slotGOT, slot)
		}
	}
	return slotRef{}
}

// isTransfer reports whether an instruction is a call or a jump relative to the next instruction.
func isTransfer(op uint8) bool { return op == 0xe8 || op == 0xe9 }

// i386Stub: jmp *slot; jmp *slot(%ebx), %ebx being the GOT's address; or push n, n in bytes of .rel.plt; or push %eax,
// mov slot, %eax or mov slot(%ebx), %eax, and a call or jump to the retpoline in the first slot.
func i386Stub(s stub) slotRef {
	switch x86Opcode(&s) {
	case 0x68:
		return s.found(slotLazy, uint64(s.U32())/8)
	case 0xff:
		switch s.U8() {
		case 0x25:
			return s.found(slotGOT, uint64(s.U32()))
		case 0xa3:
			return s.found(slotGOT, uint64(s.U32()+uint32(s.got)))
		}
	case 0x50:
		base := uint32(0)
		switch s.U8() {
		case 0xa1:
		case 0x8b:
			if s.U8() != 0x83 {
				return slotRef{}
			}
			base = uint32(s.got)
		default:
			return slotRef{}
		}
		slot := base + s.U32()
		if isTransfer(s.U8()) {
			return s.found(slotGOT, uint64(slot))
		}
	}
	return slotRef{}
}

// headGOT returns the value of %ebx, the address of the GOT, that the slots of a section of i386 assume; got is the
// address of .got.plt. The first slot pushes the second word of .got.plt relative to %ebx, which has the end of .got
// for lld before version 9. got holds in a section without such a slot.
func headGOT(code []byte, got uint64) uint64 {
	c := wire.New("", code, false)
	op, disp := c.U16(), c.U32()
	if c.Err() != nil || op != 0xb3ff {
		return got
	}
	return uint64(uint32(got) + 4 - disp)
}

// arm64Stub: [bti c]; adrp x16, page; ldr x17, [x16, offset].
func arm64Stub(s stub) slotRef {
	at, op := s.next(), armInstruction(&s)
	if op == 0xd503245f {
		at, op = s.next(), armInstruction(&s)
	}

	ldr := armInstruction(&s)
	if op&0x9f00001f != 0x90000010 || ldr&0xffc003ff != 0xf9400211 {
		return slotRef{}
	}

	// The low two bits of the page number lie apart from the others.
	pages := int64(int32(op<<8)>>13)<<2 | int64(op>>29&3)
	return s.found(slotGOT, at&^0xfff+uint64(pages<<12)+uint64(ldr>>10&0xfff)*8)
}

// armInstruction reads an A64 or A32 instruction: little-endian in every file
// but those of the old BE-32 kind.
func armInstruction(s *stub) uint32 {
	b := s.Bytes(4)
	if b == nil {
		return 0
	}
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
}

// armStub: [bx pc; nop, from Thumb]; add ip, pc, a; add ip, ip, b; …;
// ldr pc, [ip, c]!.
func armStub(s stub) slotRef {
	op := armInstruction(&s)
	if op == 0x46c04778 {
		op = armInstruction(&s)
	}
	if op&0xfffff000 != 0xe28fc000 {
		return slotRef{}
	}

	ip := uint32(s.next()) + 4 + armImmediate(op) // pc reads two instructions on
	for range 3 {
		op = armInstruction(&s)
		switch {
		case op&0xfffff000 == 0xe28cc000:
			ip += armImmediate(op)
		case op&0xfffff000 == 0xe5bcf000:
			return s.found(slotGOT, uint64(ip+op&0xfff))
		default:
			return slotRef{}
		}
	}
	return slotRef{}
}

// armImmediate is the operand of a data-processing instruction: eight bits
// rotated right by twice the next four (ARM ARM A5.2.4).
func armImmediate(op uint32) uint32 {
	return bits.RotateLeft32(op&0xff, -2*int(op>>8&15))
}

// riscvStub: [lpad 0]; auipc t3, hi; l[wd] t3, lo(t3).
func riscvStub(s stub) slotRef {
	at, auipc := s.next(), s.U32()
	if auipc == 0x17 {
		at, auipc = s.next(), s.U32()
	}
	load := s.U32()
	if auipc&0xfff != 0xe17 || load&0xfffff != 0xe3e03&0xfffff && load&0xfffff != 0xe2e03 {
		return slotRef{}
	}
	return s.found(slotGOT, at+uint64(int64(int32(auipc&^0xfff)))+uint64(int64(int32(load)>>20)))
}

// s390Stub: larl %r1, slot; lg %r1, 0(%r1).
func s390Stub(s stub) slotRef {
	larl, halfwords, lg := s.U16(), int64(int32(s.U32())), s.U32()
	if larl != 0xc010 || lg != 0xe3101000 {
		return slotRef{}
	}
	return s.found(slotGOT, s.pc+uint64(2*halfwords))
}

// loongarchStub: pcaddu12i $t3, hi; ld.[wd] $t3, $t3, lo.
func loongarchStub(s stub) slotRef {
	at, high, load := s.next(), s.U32(), s.U32()
	if high&0xfe00001f != 0x1c00000f || load&0xff8003ff != 0x288001ef && load&0xffc003ff != 0x28c001ef {
		return slotRef{}
	}
	lo := int64(int32(load<<10) >> 20)
	return s.found(slotGOT, at+uint64(int64(int32(high<<7)>>12)<<12)+uint64(lo))
}
