package walk

import (
	"bytes"
	"errors"

	"symkit/cfi"
	"symkit/emit"
)

// byWin applies the STACK WIN record at the frame: x86 Windows code
// (reference: Breakpad's symbol_files.md, "STACK WIN records"). The document does not
// specify the search for the return address and for %ebp: the search here is that of
// Breakpad's walker.
func (w *walker) byWin(f *Frame, r *Registers) (out Registers, v verdict, err error) {
	u := w.rulesAt(f.Module, f.Lookup())
	if u == nil || !u.hasWin {
		return out, notFound, errNoRules
	}

	s := winStep{w: w, f: f, r: r, win: u.record, params: w.calleeParams()}
	s.sp, _ = r.Get(x86SP)
	s.findSearch()
	if u.win != nil {
		out, v, err = s.program(u.win)
	} else {
		out, v, err = s.fpo()
	}

	if v == found {
		v = s.repair(&out)
	}
	return out, v, err
}

const (
	x86BX = 3
	x86SP = 4
	x86BP = 5
)

// winStep is one step from a frame to its caller by a STACK WIN record.
type winStep struct {
	w      *walker
	f      *Frame
	r      *Registers
	win    emit.StackWin
	params uint64 // next_parameter_size
	sp     uint64 // %esp of the frame
	search uint64 // .raSearchStart
}

// calleeParams returns the size in bytes of the arguments of the function that the
// frame called, 0 for the innermost frame. The arguments are still on the stack, at the
// frame's stack pointer.
func (w *walker) calleeParams() uint64 {
	f := &w.callee
	if u := w.rulesAt(f.Module, f.Lookup()); u != nil {
		return uint64(u.params)
	}
	return 0
}

// Limits of searches, in words: the return address may be a few words higher
// where the stack was aligned; a saved %ebp is not looked for in more.
const (
	winRescan   = 3
	winBPSearch = 256
)

// findSearch finds the place where the return address should be.
func (s *winStep) findSearch() {
	w, size := s.w, uint64(s.win.LocalSize)+uint64(s.win.SavedRegsSize)+s.params
	start := w.cpu.narrow(s.sp + size)
	// Where the stack was aligned the return address is a few words higher.
	at, ok := w.findReturn(start, winRescan+1)
	if ok && at == start && len(s.win.Program) == 0 && s.f.Trust == TrustContext {
		// After a system call its return address may still be on the stack.
		if pc, _ := w.eval.word(at); pc == s.f.PC {
			start = w.cpu.narrow(start + 4)
			at, ok = w.findReturn(start, winRescan+1)
		}
	}

	s.search = start
	if ok {
		s.search = at
	}
	// A program that aligns %esp (@) rounded it down: only %ebp shows where the return address
	// is.
	if bp, ok := s.r.Get(x86BP); ok && bytes.IndexByte(s.win.Program, '@') >= 0 {
		s.search = w.cpu.narrow(bp + 4)
	}
}

// findReturn finds the first of n words from at on that can be a return
// address.
func (w *walker) findReturn(at, n uint64) (uint64, bool) {
	for ; n > 0; n-- {
		v, ok := w.eval.word(at)
		if !ok {
			return 0, false
		}
		if w.scanHit(v) {
			return at, true
		}
		at = w.cpu.narrow(at + uint64(w.cpu.arch.WordSize))
	}
	return 0, false
}

var errNoResult = errors.New("the program sets no $eip or no $esp")

// winGiven are the variables, beside registers, that a program string can read.
var winGiven = [...][]byte{[]byte(".cbParams"), []byte(".cbCalleeParams"), []byte(".cbSavedRegs"),
	[]byte(".cbLocals"), []byte(".raSearch"), []byte(".raSearchStart")}

// program runs the program string. %ebp keeps its value if the program does not set
// %ebp; other registers that are not set become unknown.
func (s *winStep) program(p *program) (out Registers, v verdict, err error) {
	s.w.syms.cost.terms(p.terms)
	e := &s.w.eval
	e.begin(p, s.r)
	for i, v := range [len(winGiven)]uint64{uint64(s.win.ParamSize), s.params, uint64(s.win.SavedRegsSize),
		uint64(s.win.LocalSize), s.search, s.search} {
		if err := e.setVar(i, e.cpu.narrow(v), nil); err != nil {
			return out, notFound, err
		}
	}
	if err := e.run(p.rules[0].terms); err != nil {
		if err == ErrMemory {
			s.w.reaches(s.r, e.lost+4, true)
		}
		return out, notFound, err
	}

	if bp, ok := s.r.Get(x86BP); ok {
		out.Set(x86BP, bp)
	}
	pcSet := false
	for i := range e.vars {
		v := &e.vars[i]
		slot, ok := e.cpu.slots[string(p.names[i])]
		switch {
		case !ok || !v.set:
		case v.err != nil:
			out.Clear(slot)
		default:
			out.Set(slot, v.v)
			pcSet = pcSet || slot == RegPC
		}
	}

	// A program must set $eip and $esp; $eip of zero is the end of the stack.
	_, spSet := out.Get(x86SP)
	switch {
	case pcSet && out.PC == 0:
		return out, stackEnd, errNullReturn
	case !pcSet || !spSet:
		return out, notFound, errNoResult
	}
	return out, found, nil
}

// fpo applies a record without a program. %ebx is seldom changed by functions
// that leave %ebp alone, and rules of others count on it.
func (s *winStep) fpo() (out Registers, v verdict, err error) {
	w := s.w
	pc, ok := w.eval.word(s.search)
	if !ok {
		w.reaches(s.r, s.search+4, true)
		return out, notFound, ErrMemory
	}

	out.PC = pc
	out.Set(x86SP, w.cpu.narrow(s.search+4))
	if s.win.AllocatesBP {
		bp, ok := w.eval.word(w.cpu.narrow(s.sp + s.params + uint64(s.win.SavedRegsSize) - 8))
		if !ok {
			w.lossy = true
			return out, notFound, ErrMemory
		}
		out.Set(x86BP, bp)
	} else {
		for _, reg := range [...]cfi.Reg{x86BX, x86BP} {
			if v, ok := s.r.Get(reg); ok {
				out.Set(reg, v)
			}
		}
	}

	if bp, _ := out.Get(x86BP); pc == 0 && bp == 0 {
		return out, stackEnd, errNullReturn
	}
	return out, found, nil
}

// repair checks the return address and %ebp. A return address that follows no call is
// searched for further up the stack, and %ebp among the registers that the function
// may have saved.
func (s *winStep) repair(out *Registers) verdict {
	w, v, skipped := s.w, found, uint64(0)
	if !w.returnsToCode(out.PC) && w.scanned < w.maxScanned {
		n := uint64(scanWords)
		if s.f.Trust == TrustContext {
			n = scanWordsLong
		}
		// The first frame is searched further, since its function may have pushed much.
		from := w.cpu.narrow(s.search + 4)
		if at, ok := w.findReturn(from, n); ok {
			w.scanned++
			out.PC, _ = w.eval.word(at)
			out.Set(x86SP, w.cpu.narrow(at+4))
			v, skipped = searched, w.cpu.narrow(at-from)
		}
	}

	// The function leaves %ebp alone.
	if len(s.win.Program) == 0 && !s.win.AllocatesBP {
		return v
	}
	bp, _ := out.Get(x86BP)
	// A %ebp that points into a skipped frame, or to no stack, is searched for.
	inFrame := v == searched && bp <= s.search+skipped // then that of a frame that was skipped
	if inFrame || !w.sameStack(s.sp, bp) {
		s.findBP(out, skipped)
	}
	return v
}

// findBP sets %ebp to the topmost word of the saved registers that points up the
// stack. Compilers save %ebp first.
func (s *winStep) findBP(out *Registers, skipped uint64) {
	n := min(uint64(s.win.SavedRegsSize)+skipped, 4*winBPSearch)
	bottom := s.sp + s.params
	for i := range n/4 + 1 {
		at := s.w.cpu.narrow(bottom + n - 4*i)
		v, ok := s.w.eval.word(at)
		if !ok {
			return
		}
		if s.w.sameStack(at, v) {
			out.Set(x86BP, v)
			return
		}
	}
}
