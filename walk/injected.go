package walk

import "strings"

// injected are the functions of Go's runtime that a signal handler, or a debugger, has the
// interrupted code seem to call (traceback.go, isInjectedCall; debugCallV1 up to Go 1.16). The
// return address is the interrupted instruction itself.
var injected = map[string]bool{
	"runtime.sigpanic": true, "runtime.asyncPreempt": true, "runtime.debugCallV2": true, "runtime.debugCallV1": true,
}

// isInjected reports whether f's function was injected into its caller.
func (f *Frame) isInjected() bool {
	return f.Module != nil && injected[strings.TrimSuffix(f.Place.Func, ".abi0")]
}

// returnsTo reports whether pc can be the return address of f: that of a call, or, in Go, one that no call
// pushed: what an injected function interrupted, or an instruction of runtime.goexit, to which the
// first function of a goroutine returns.
func (w *walker) returnsTo(f *Frame, pc uint64) bool {
	if w.returnsToCode(pc) {
		return true
	}
	addr := w.returnAddr(pc)
	if f.isInjected() {
		return w.p.code(addr)
	}
	m, place := w.lookup(addr)
	return m != nil && strings.TrimSuffix(place.Func, ".abi0") == "runtime.goexit" && addr-place.FuncAddr <= entrySize
}

// interrupted corrects the registers of the caller of an injected function. Where calls write a link
// register, the handler pushes the interrupted one before it sets the register (signal_arm64.go,
// preparePanic and pushCall).
func (w *walker) interrupted(out *Registers) {
	if w.cpu.lr == RegPC {
		return
	}
	sp := w.cpu.sp(out)
	lr, ok := w.eval.word(sp)
	if ok {
		out.Set(w.cpu.lr, lr)
	} else {
		out.Clear(w.cpu.lr)
	}
	out.Set(w.cpu.arch.SP, w.cpu.narrow(sp+w.cpu.pushed()))
}

// pushed returns the number of bytes that Go's handlers take off the stack for the link register:
// what a frame has at least (internal/goarch, MinFrameSize), aligned as the stack pointer is.
func (c *cpu) pushed() uint64 {
	switch c.machine.(type) {
	case arm64:
		return 16
	case *ppc:
		return 32
	}
	return uint64(c.arch.WordSize)
}

// isGoHandler reports whether f's function is the one with which Go handles signals. The kernel has it
// called by the trampoline, but Go's linker gives it rules without a caller on most machines.
func (f *Frame) isGoHandler() bool {
	return f.Module != nil && strings.TrimSuffix(f.Place.Func, ".abi0") == "runtime.sigtramp"
}

// handlerReturn returns the return address of Go's signal handler, the address of a trampoline. The
// CFA is known. Go's functions save the link register at the stack pointer. The error is
// errCantUnwind if the word there leads to no trampoline.
func (w *walker) handlerReturn(r *Registers) (ra uint64, err error) {
	at := w.cpu.sp(r)
	if w.cpu.lr == RegPC {
		at = w.eval.cfa - uint64(w.cpu.arch.WordSize)
	}
	ra, ok := w.eval.word(at)
	if !ok {
		w.eval.lost = at
		return 0, ErrMemory
	}
	pc := w.codeAddr(ra)
	_, place := w.lookup(pc)
	if w.isTrampoline(pc, place) {
		return ra, nil
	}
	return 0, errCantUnwind
}
