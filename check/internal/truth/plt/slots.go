package plt

import (
	"debug/elf"
	"encoding/binary"
	"iter"
	"math/bits"
	"slices"

	"symkit/check/internal/naming"
	"symkit/elfx"
)

// Slots of machines with instructions of one size load a word of the GOT and jump to it. A slot is
// recognised by the instructions that compute the word's address; the word's relocation has the
// symbol.

// slotCode is the code of one section with slots.
type slotCode struct {
	machine elf.Machine
	addr    uint64
	code    []byte
	order   binary.ByteOrder
}

// op returns the instruction at an offset, 0 beyond the end.
func (x *slotCode) op(at int) uint32 {
	if at < 0 || at+4 > len(x.code) {
		return 0
	}
	return x.order.Uint32(x.code[at:])
}

// newSlotCode returns the code of a section. Instructions of ARM are little-endian, unless the file
// is of the old kind, BE-32 (EF_ARM_BE8 is not set).
func newSlotCode(f *elfx.File, s *elfx.Section, code []byte) *slotCode {
	x := &slotCode{machine: f.Machine, addr: s.Addr, code: code, order: binary.LittleEndian}
	const be8 = 0x00800000
	if f.BigEndian && f.Machine != elf.EM_AARCH64 && !(f.Machine == elf.EM_ARM && f.Flags&be8 != 0) {
		x.order = binary.BigEndian
	}
	return x
}

// slotAt returns the address of the GOT's word that the slot with its first load at an offset jumps
// through, and the offset where the slot begins.
func (x *slotCode) slotAt(at int) (word uint64, begin int, ok bool) {
	switch x.machine {
	case elf.EM_AARCH64:
		return x.aarch64(at)
	case elf.EM_ARM:
		return x.arm(at)
	case elf.EM_RISCV:
		return x.riscv(at)
	case elf.EM_LOONGARCH:
		return x.loongarch(at)
	case elf.EM_S390:
		return x.s390(at)
	case elf.EM_MIPS:
		return x.mips(at)
	}
	return 0, 0, false
}

// aarch64: adrp x16, page; ldr x17, [x16, offset]; in front of them bti c (Arm ARM C6.2).
func (x *slotCode) aarch64(at int) (word uint64, begin int, ok bool) {
	adrp, ldr := x.op(at), x.op(at+4)
	if adrp>>31 != 1 || adrp>>24&0x1f != 0b10000 || adrp&31 != 16 || ldr>>22 != 0b1111100101 || ldr&31 != 17 || ldr>>5&31 != 16 {
		return 0, 0, false
	}
	page := signed(adrp>>5&(1<<19-1)<<2|adrp>>29&3, 21) << 12
	begin = at
	if x.op(at-4) == 0xd503245f {
		begin -= 4
	}
	return (x.addr+uint64(at))>>12<<12 + page + uint64(ldr>>10&0xfff)<<3, begin, true
}

// arm: add ip, pc, a; add ip, ip, b, once or twice; ldr pc, [ip, c]!. In front of them, for callers
// in Thumb, bx pc and nop.
func (x *slotCode) arm(at int) (word uint64, begin int, ok bool) {
	const addPC, addIP, load = 0xe28fc, 0xe28cc, 0xe5bcf
	if x.op(at)>>12 != addPC {
		return 0, 0, false
	}
	ip := uint32(x.addr) + uint32(at) + 8 + rotated(x.op(at))
	next := at + 4
	for ; x.op(next)>>12 == addIP && next <= at+8; next += 4 {
		ip += rotated(x.op(next))
	}
	if x.op(next)>>12 != load {
		return 0, 0, false
	}
	begin = at
	if x.op(at-4) == 0x46c04778 {
		begin -= 4
	}
	return uint64(ip + x.op(next)&0xfff), begin, true
}

// rotated returns the operand of a data-processing instruction of ARM (ARM ARM A5.2.4).
func rotated(op uint32) uint32 { return bits.RotateLeft32(op&0xff, -int(op>>7&0x1e)) }

// riscv: auipc t3, high; lw or ld t3, low(t3); in front of them, with landing pads, lpad 0, which is
// auipc zero, 0.
func (x *slotCode) riscv(at int) (word uint64, begin int, ok bool) {
	const t3, opAUIPC, opLoad = 28, 0x17, 0x03
	auipc, load := x.op(at), x.op(at+4)
	width := load >> 12 & 7 // 2: 32 bits, 3: 64 bits
	if auipc&0xfff != opAUIPC|t3<<7 || load&0xfff != opLoad|t3<<7 || load>>15&31 != t3 || width != 2 && width != 3 {
		return 0, 0, false
	}
	begin = at
	if x.op(at-4) == opAUIPC {
		begin -= 4
	}
	word = x.addr + uint64(at) + signed(auipc>>12, 20)<<12 + signed(load>>20, 12)
	if width == 2 {
		word = uint64(uint32(word))
	}
	return word, begin, true
}

// loongarch: pcaddu12i $t3, high; ld.w or ld.d $t3, $t3, low.
func (x *slotCode) loongarch(at int) (word uint64, begin int, ok bool) {
	const t3 = 15
	high, load := x.op(at), x.op(at+4)
	if high>>25 != 0b0001110 || high&31 != t3 || load>>22 != 0b0010100010 && load>>22 != 0b0010100011 || load&31 != t3 || load>>5&31 != t3 {
		return 0, 0, false
	}
	return x.addr + uint64(at) + signed(high>>5&(1<<20-1), 20)<<12 + signed(load>>10&0xfff, 12), at, true
}

// s390: larl %r1, word; lg %r1, 0(%r1).
func (x *slotCode) s390(at int) (word uint64, begin int, ok bool) {
	if at+12 > len(x.code) || x.op(at)>>16 != 0xc010 || x.op(at+6) != 0xe3101000 {
		return 0, 0, false
	}
	return x.addr + uint64(at) + signed(x.op(at+2), 32)<<1, at, true
}

// mips: lui $15 or $14, high; lw or ld $25, low($15 or $14). microMIPS: addiupc $2, words, or lui $2, high; lw $25,
// low($2). MIPS16: lw $2, 12($pc); lw $3, 0($2), the address of the word follows after 12 bytes.
func (x *slotCode) mips(at int) (word uint64, begin int, ok bool) {
	if at+8 > len(x.code) {
		return 0, 0, false
	}
	half := func(at int) uint32 { return uint32(x.order.Uint16(x.code[at:])) }
	op, load := x.op(at), x.op(at+4)
	switch first, second := half(at), half(at+2); {
	case op>>16 == 0x3c0f && load>>16 == 0x8df9, op>>16 == 0x3c0e && load>>16 == 0x8dd9:
		return uint64(op<<16 + uint32(signed(load&0xffff, 16))), at, true
	case op>>16 == 0x3c0e && load>>16 == 0xddd9:
		return signed(op&0xffff, 16)<<16 + signed(load&0xffff, 16), at, true
	case first == 0xb203 && second == 0x9a60:
		return uint64(x.op(at + 12)), at, at+16 <= len(x.code)
	case half(at+4) != 0xff22:
	case first == 0x41a2:
		return uint64(second<<16 + uint32(signed(half(at+6), 16))), at, true
	case first&0xff80 == 0x7900:
		return (x.addr+uint64(at))&^3 + signed((first&0x7f)<<16|second, 23)<<2 + signed(half(at+6), 16), at, true
	}
	return 0, 0, false
}

// signed extends the sign of a number of some bits.
func signed(v uint32, bits int) uint64 { return uint64(int64(uint64(v)<<(64-bits)) >> (64 - bits)) }

// decodesSlots reports whether the slots of a machine are decoded: all have their address in the
// file, so that no other PUBLIC NAME@plt is right.
func decodesSlots(m elf.Machine) bool {
	switch m {
	case elf.EM_386, elf.EM_X86_64, elf.EM_AARCH64, elf.EM_ARM, elf.EM_RISCV, elf.EM_LOONGARCH, elf.EM_S390, elf.EM_MIPS:
		return true
	}
	return false
}

// decodeLoads finds the slots that slotAt recognises.
func (t *Stubs) decodeLoads(x *slotCode, got map[uint64][]uint32) {
	step := 4
	if x.machine == elf.EM_S390 {
		step = 2
	}
	for at := 0; at+4 <= len(x.code); at += step {
		word, begin, ok := x.slotAt(at)
		names := got[word]
		if !ok || len(names) == 0 {
			continue
		}
		slot := x.addr + uint64(begin)
		t.slots[slot] = join(t.slots[slot], names)
		t.Slots = append(t.Slots, Slot{[2]uint64{slot, slot}, names[0], false})
	}
}

// decodeMIPS finds the stubs of MIPS: the symbol of an undefined function has the address of its
// stub in .MIPS.stubs (MIPS psABI, "Procedure Linkage Table"). gold leaves the address out in shared
// libraries: the code of a stub loads the number of the symbol.
func (t *Stubs) decodeMIPS(dynsym *elfx.SymbolTable) {
	stubs := t.file.Section(".MIPS.stubs")
	add := func(addr uint64, s *elfx.Symbol) {
		name := t.symbols.Names.ID(naming.Key{Linkage: string(dynsym.NameOf(s))})
		t.slots[addr] = join(t.slots[addr], []uint32{name})
		if stubs != nil && addr >= stubs.Addr && addr-stubs.Addr < stubs.Size {
			t.Slots = append(t.Slots, Slot{[2]uint64{addr, addr}, name, false})
		}
	}
	for i := range dynsym.Symbols {
		s := &dynsym.Symbols[i]
		if s.Shndx == elfx.ShnUndef && s.Type == elf.STT_FUNC && s.Value != 0 {
			add(s.Value&^1, s) // the lowest bit marks microMIPS code
		}
	}

	if stubs == nil {
		return
	}
	code, err := stubs.Data()
	if err != nil {
		return
	}
	x := newSlotCode(t.file, stubs, code)
	for begin, n := range x.lazyStubs() {
		addr := stubs.Addr + uint64(begin)
		if len(t.slots[addr]) == 0 && uint64(n) < uint64(len(dynsym.Symbols)) {
			add(addr, &dynsym.Symbols[n])
		}
	}
}

// lazyCodes are the upper halves of the instructions of a lazy stub of MIPS, standard and microMIPS: the load of $t9
// with which a stub begins, the upper half of the symbol's number, and the lower half.
var lazyCodes = []struct {
	micro           bool
	load, high, low []uint32
}{
	{false, []uint32{0x8f99, 0xdf99}, []uint32{0x3c18}, []uint32{0x2418, 0x6418, 0x3418, 0x3718}},
	{true, []uint32{0xff3c}, []uint32{0x41b8}, []uint32{0x3300, 0x5300, 0x5318}},
}

// lazyStubs yields the offset of each lazy stub of MIPS, and the number of its symbol.
func (x *slotCode) lazyStubs() iter.Seq2[int, uint32] {
	return func(yield func(int, uint32) bool) {
		for _, c := range lazyCodes {
			begin, high := 0, uint32(0)
			step := 4
			if c.micro {
				step = 2
			}
			for at := 0; at+4 <= len(x.code); at += step {
				op := x.op(at)
				if c.micro {
					op = uint32(x.order.Uint16(x.code[at:]))<<16 | uint32(x.order.Uint16(x.code[at+2:]))
				}
				switch {
				case slices.Contains(c.load, op>>16):
					begin, high = at, 0
				case slices.Contains(c.high, op>>16):
					high = op << 16
				case slices.Contains(c.low, op>>16) && !yield(begin, high|op&0xffff):
					return
				}
			}
		}
	}
}
