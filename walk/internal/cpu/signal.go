package cpu

import "symkit/cfi"

// Layout has the places of the interrupted registers in the frame that the kernel makes
// for a signal handler, counted from the stack pointer in the trampoline that the handler
// returns to.
type Layout struct {
	regs []savedReg
}

// savedReg is a saved register, with the offset of the place it is saved in.
type savedReg struct {
	reg cfi.Reg // or RegPC
	off uint64
}

// trampoline is the code that a handler returns to, which calls sigreturn.
type trampoline struct {
	code, mask string
	frame      *Layout
}

// begins reports whether code begins with the trampoline.
func (t *trampoline) begins(code []byte) bool {
	if len(code) < len(t.code) {
		return false
	}
	for i := range len(t.code) {
		mask := byte(0xff)
		if t.mask != "" {
			mask = t.mask[i]
		}
		if (code[i]^t.code[i])&mask != 0 {
			return false
		}
	}
	return true
}

// inOrder lays registers out one word after the other.
func inOrder(off, word uint64, regs ...cfi.Reg) (out []savedReg) {
	for i, r := range regs {
		out = append(out, savedReg{r, off + uint64(i)*word})
	}
	return out
}

// regRange returns the register numbers from first to last.
func regRange(first, last cfi.Reg) (out []cfi.Reg) {
	for r := first; r <= last; r++ {
		out = append(out, r)
	}
	return out
}
