package cpu

import (
	"errors"

	"symkit/internal/wire"
	"symkit/walk/internal/code"
)

// Word reads the machine's word at addr.
func (s *Stack) Word(addr uint64) (uint64, bool) {
	size := s.Arch.WordSize
	b := s.Memory.Bytes(addr, uint64(size))
	if len(b) < size {
		return 0, false
	}
	c := wire.New("", b, s.Big)
	return c.Uint(size), true
}

// Code returns n bytes of code at addr, or as many as the dump has.
func (s *Stack) Code(addr, n uint64) []byte { return code.Bytes(s.Memory, addr, n) }

// CodeAddr returns the address of the instruction that a pointer to code leads to, without a
// pointer authentication code and the Thumb bit.
func (s *Stack) CodeAddr(pc uint64) uint64 { return s.Narrow(pc) &^ s.PAC &^ s.Tags }

// ReturnAddr returns the address that a function returns to, from the value that the
// call saved.
func (s *Stack) ReturnAddr(saved uint64) uint64 { return s.Narrow(s.CodeAddr(saved) + s.toReturn) }

// Before returns up to 8 bytes of code before the return address of a call, as many as the dump
// has; nil: none.
func (s *Stack) Before(saved uint64) []byte {
	addr := s.ReturnAddr(saved)
	for n := uint64(8); n > 0; n -= 2 {
		if b := s.Memory.Bytes(addr-n, n); b != nil {
			return b
		}
	}
	return nil
}

// CallBefore returns the call instruction that code ends in; saved is the return address that
// the call saved.
func (s *Stack) CallBefore(code []byte, saved uint64) Call {
	return s.callBefore(code, saved+s.toReturn)
}

// Connected reports whether to is above addr, and the memory from the word at addr to the word
// at to is contiguous, as in one stack.
func (s *Stack) Connected(addr, to uint64) bool {
	return to > addr && s.Memory.Bytes(addr, to-addr+s.WordSize()) != nil
}

// ErrMemory is about a word that the dump does not have.
var ErrMemory = errors.New("unreadable memory")

// Load reads the interrupted registers of a frame of l at sp. The program counter and the stack
// pointer must be readable, else the error is ErrMemory, and the last of lost is the place of one.
// Other registers that the dump lacks are unknown. lost are the places of all that it lacks.
func (s *Stack) Load(l *Layout, sp uint64) (r Registers, lost []uint64, err error) {
	for _, saved := range l.regs {
		v, ok := s.Word(sp + saved.off)
		if ok {
			r.Set(saved.reg, v)
			continue
		}
		lost = append(lost, sp+saved.off)
		if saved.reg == RegPC || saved.reg == s.Arch.SP {
			return Registers{}, lost, ErrMemory
		}
	}
	return r, lost, nil
}
