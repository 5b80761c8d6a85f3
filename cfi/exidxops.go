package cfi

import (
	"errors"
	"math/bits"

	"symkit/internal/wire"
	"symkit/located"
)

// Registers of ARM (AADWARF32 §4.1).
const (
	armSP = 13
	armLR = 14
	armPC = 15
	armS0 = 64  // D0 to D15 are pairs of these, in GCC's tables too
	armD0 = 256 // for D16 to D31, which are no pairs
)

// The unwinding instructions can restore 64 registers. Each has a number of its own: its
// index in slots and its bit in saved.
const (
	exidxS0  = 16 // after the core registers
	exidxD16 = 48
	numExidx = 64
)

// exidxReg returns the DWARF number of the register with index i.
func exidxReg(i int) Reg {
	switch {
	case i >= exidxD16:
		return armD0 + Reg(i-exidxD16) + 16
	case i >= exidxS0:
		return armS0 + Reg(i-exidxS0)
	}
	return Reg(i)
}

// maxExidxOffset bounds the distance of the virtual stack pointer from its base: half of
// a 32-bit address space.
const maxExidxOffset = 1 << 31

// Errors of Exidx: a *located.Error wraps one of these or a sentinel of package located.
var (
	// errExidxEntry: reserved bits of an entry of .ARM.exidx are set.
	errExidxEntry = errors.New("reserved bits in an unwind table entry")
	// errExidxOrder: an entry has a lower address than the entry before.
	errExidxOrder = errors.New("unwind table entry out of order")
	// errExtab: an entry points outside .ARM.extab.
	errExtab = errors.New("entry leads outside .ARM.extab")
	// errPersonality: the compact model is not 0, 1 or 2.
	errPersonality = errors.New("unknown personality routine")
	// errUnwindOpcode: an unwinding instruction is spare or reserved.
	errUnwindOpcode = errors.New("unknown unwinding instruction")
	// errUnwindState: no row can express the effect of the unwinding instructions, such
	// as moving a stack pointer that was loaded from the stack.
	errUnwindState = errors.New("unwinding instructions that no row can express")
)

// slot is an address: the current value of a register plus an offset.
type slot struct {
	base Reg
	off  int64
}

// exidxMachine runs the unwinding instructions of one function (EHABI32 §10.3). The
// instructions undo the prologue step by step on a virtual stack pointer; exidxMachine
// adds up the steps.
type exidxMachine struct {
	vsp slot
	// loaded: the virtual stack pointer is the word at vsp, not vsp itself.
	loaded bool
	saved  uint64 // bit i: slots[i] is where register i is restored from
	slots  [numExidx]slot
	rules  [numExidx]RegRule
	row    Row

	words   wire.Cursor
	section string
	word    uint32
	left    int // bytes in word
	at      int // the place of word in its section
	failed  error
}

// more reports whether instructions remain. The first instruction of a word is its most
// significant byte.
func (m *exidxMachine) more() bool {
	if m.left <= 0 {
		if m.words.Len() == 0 {
			return false
		}
		skip := -m.left
		m.at = m.words.Pos()
		m.word = m.words.U32() << (8 * skip)
		m.left = 4 - skip
	}
	return true
}

// byte returns the next instruction byte. At the end of the words, byte returns finish
// (0xb0), with which assemblers pad the last word.
func (m *exidxMachine) byte() uint8 {
	if !m.more() {
		m.fail(located.ErrTruncated)
		return 0xb0
	}

	b := uint8(m.word >> 24)
	m.word <<= 8
	m.left--
	return b
}

func (m *exidxMachine) fail(err error) {
	if m.failed == nil {
		m.failed = &located.Error{Section: m.section, Offset: m.at, Err: err}
	}
}

// step runs the instruction that begins with op, which is not finish. refuse is true if
// the instruction says that the function cannot be unwound.
func (m *exidxMachine) step(op uint8) (refuse bool) {
	low := uint64(op & 0x0f)
	switch {
	case op < 0x40: // vsp = vsp + (xxxxxx << 2) + 4
		m.move(int64(op)<<2 + 4)
	case op < 0x80: // vsp = vsp − (xxxxxx << 2) − 4
		m.move(-(int64(op&0x3f)<<2 + 4))
	case op < 0x90: // pop under mask {r15–r12}, {r11–r4}
		mask := low<<8 | uint64(m.byte())
		if mask == 0 {
			return m.failed == nil // refuse to unwind
		}
		m.pop(mask << 4)
	case op < 0xa0: // vsp = r[nnnn]
		m.setStack(low)
	case op < 0xb0: // pop r4–r[4+nnn], and r14
		mask := uint64(0x10)<<(low&7+1) - 0x10
		if op >= 0xa8 {
			mask |= 1 << armLR
		}
		m.pop(mask)
	case op == 0xb1: // pop under mask {r3–r0}
		m.popLow(4)
	case op == 0xb2: // vsp = vsp + 0x204 + (uleb128 << 2)
		m.move(0x204 + m.uleb()<<2)
	case op == 0xb3: // pop VFP, saved as by FSTMFDX
		m.popVFP(0, m.byte(), 4)
	case op == 0xb4: // pop the return address authentication code
		m.move(4)
	case op == 0xb5: // the virtual stack pointer is that code's modifier
	case op >= 0xb8 && op < 0xc0: // pop VFP D8–D[8+nnn], FSTMFDX
		m.popVFP(0, 8<<4|op&7, 4)
	case op == 0xc6: // pop wR[ssss]–wR[ssss+cccc], of 8 bytes each
		m.move(8 * (int64(m.byte()&0x0f) + 1))
	case op == 0xc7: // pop wCGR0–3 under mask
		m.popLow(0)
	case op >= 0xc0 && op < 0xc6: // pop wR10–wR[10+nnn]
		m.move(8 * (int64(op&7) + 1))
	case op == 0xc8: // pop VFP D[16+ssss]–D[16+ssss+cccc], saved as by VPUSH
		m.popVFP(16, m.byte(), 0)
	case op == 0xc9: // the same from D[ssss]
		m.popVFP(0, m.byte(), 0)
	case op >= 0xd0 && op < 0xd8: // pop VFP D8–D[8+nnn], VPUSH
		m.popVFP(0, 8<<4|op&7, 0)
	default:
		m.fail(errUnwindOpcode)
	}
	return false
}

// move adds n to the virtual stack pointer.
func (m *exidxMachine) move(n int64) {
	if m.loaded {
		m.fail(errUnwindState)
		return
	}

	// A forged table could otherwise overflow the offset.
	m.vsp.off += n
	if m.vsp.off > maxExidxOffset || m.vsp.off < -maxExidxOffset {
		m.fail(errUnwindState)
	}
}

// setStack sets the virtual stack pointer to register n.
func (m *exidxMachine) setStack(n uint64) {
	switch {
	case n == armSP || n == armPC: // reserved
		m.fail(errUnwindOpcode)
	case m.saved>>n&1 != 0: // the value it was restored to
		m.vsp, m.loaded = m.slots[n], true
	default:
		m.vsp, m.loaded = slot{base: Reg(n)}, false
	}
}

// pop restores the registers in mask from consecutive words. If r13 is one of them, its
// value is the virtual stack pointer afterwards.
func (m *exidxMachine) pop(mask uint64) {
	// The lowest register is at the lowest address.
	for ; mask != 0 && m.failed == nil; mask &= mask - 1 {
		m.restore(bits.TrailingZeros64(mask), 4)
	}
	if m.saved>>armSP&1 != 0 && m.failed == nil {
		m.saved &^= 1 << armSP
		m.vsp, m.loaded = m.slots[armSP], true
	}
}

// restore records that register i is saved at the virtual stack pointer, which then moves
// by size.
func (m *exidxMachine) restore(i int, size int64) {
	if !m.loaded {
		m.slots[i] = m.vsp
		m.saved |= 1 << i
	}
	m.move(size)
}

// popLow pops words under a mask of four bits: r0–r3, or coprocessor registers, which
// have no name in rules.
func (m *exidxMachine) popLow(core int) {
	mask := m.byte()
	switch {
	case mask == 0 || mask > 0x0f:
		m.fail(errUnwindOpcode)
	case core > 0:
		m.pop(uint64(mask))
	default:
		m.move(4 * int64(bits.OnesCount8(mask)))
	}
}

// popVFP pops double-precision registers: the high half of operand (ssss) is the first
// register, the low half (cccc) is the number of registers minus one. FSTMFDX leaves a
// word of its own above the registers.
func (m *exidxMachine) popVFP(from int, operand uint8, extra int64) {
	first, last := from+int(operand>>4), from+int(operand>>4)+int(operand&0x0f)
	if last >= 32 {
		m.fail(errUnwindOpcode)
		return
	}

	// D0 to D15 are two slots each, D16 to D31 one slot each.
	for d := first; d <= last && m.failed == nil; d++ {
		switch low := exidxS0 + 2*d; {
		case d >= 16:
			m.restore(exidxD16+d-16, 8)
		case m.words.BigEndian(): // the high half comes first
			m.restore(low+1, 4)
			m.restore(low, 4)
		default:
			m.restore(low, 4)
			m.restore(low+1, 4)
		}
	}
	if m.failed == nil && extra != 0 {
		m.move(extra)
	}
}

// uleb reads the operand of the long move, a ULEB128 of at most five bytes.
func (m *exidxMachine) uleb() (v int64) {
	for shift := 0; shift < 32; shift += 7 {
		b := m.byte()
		v |= int64(b&0x7f) << shift
		if b < 0x80 || m.failed != nil {
			return v
		}
	}

	m.fail(located.ErrOverflow)
	return 0
}

// registers returns the rules of the restored registers. The caller's PC is the return
// address: the popped PC, or else the link register.
func (m *exidxMachine) registers() []RegRule {
	if m.saved>>armPC&1 != 0 {
		m.slots[armLR] = m.slots[armPC]
		m.saved = m.saved&^(1<<armPC) | 1<<armLR
	}

	// A slot with the same base as the CFA is written relative to the CFA.
	rules := m.rules[:0]
	for left := m.saved; left != 0; left &= left - 1 {
		i := bits.TrailingZeros64(left)
		s := m.slots[i]
		rule := Rule{Kind: KindMemReg, Reg: s.base, Off: s.off}
		if !m.loaded && s.base == m.vsp.base {
			rule = Rule{Kind: KindMemCFA, Off: s.off - m.vsp.off}
		}
		rules = append(rules, RegRule{exidxReg(i), rule})
	}
	return rules
}
