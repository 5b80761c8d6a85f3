package walk

import "symkit/cfi"

// sigframe has the places of the interrupted registers in the frame that the kernel makes
// for a signal handler, counted from the stack pointer in the trampoline that the handler
// returns to.
type sigframe struct {
	regs []sigreg
}

// trampoline is the code that a handler returns to, which calls sigreturn.
type trampoline struct {
	code, mask string
	frame      *sigframe
}

// trampoline returns the layout of the signal frame that belongs to the
// trampoline that code begins with; nil if code is no trampoline.
func (c *cpu) trampoline(code []byte) *sigframe {
	for i := range c.trampolines {
		if t := &c.trampolines[i]; t.begins(code) {
			return t.frame
		}
	}
	return nil
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

// sigreg is a saved register, with the offset of the place it is saved in.
type sigreg struct {
	reg cfi.Reg // or RegPC
	off uint64
}

// inOrder lays registers out one word after the other.
func inOrder(off, word uint64, regs ...cfi.Reg) (out []sigreg) {
	for i, r := range regs {
		out = append(out, sigreg{r, off + uint64(i)*word})
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

// load reads the interrupted registers. The program counter and the stack pointer must be
// readable; other registers that the dump lacks are unknown.
func (s *sigframe) load(w *walker, sp uint64) (r Registers, ok bool) {
	for _, s := range s.regs {
		v, ok := w.eval.word(sp + s.off)
		if !ok {
			w.loses(sp, sp+s.off)
		}
		switch {
		case ok:
			r.Set(s.reg, v)
		case s.reg == RegPC || s.reg == w.cpu.arch.SP:
			w.eval.lost = sp + s.off
			return Registers{}, false
		}
	}
	return r, true
}

// restorers are the names of trampolines in C libraries and in the kernel's
// vdso (glibc, musl, bionic, Linux).
var restorers = map[string]bool{
	"__restore_rt":                      true, // glibc, musl: x86-64
	"__restore":                         true,
	"restore_rt":                        true,
	"__kernel_rt_sigreturn":             true, // vdso: i386, arm64, s390x
	"__kernel_sigreturn":                true,
	"__vdso_rt_sigreturn":               true, // vdso: riscv
	"__default_sa_restorer":             true, // glibc: arm
	"__default_rt_sa_restorer":          true,
	"__default_sa_restorer_v1":          true,
	"__default_sa_restorer_v2":          true,
	"__default_rt_sa_restorer_v1":       true,
	"__default_rt_sa_restorer_v2":       true,
	"__restore_rt_sa":                   true, // bionic
	"runtime.sigreturn__sigaction":      true, // Go
	"runtime.sigreturn__sigaction.abi0": true,
	"runtime.sigreturn":                 true, // before Go 1.20
	"runtime.sigreturn.abi0":            true,
}
