package walk

import (
	"bytes"
	"errors"

	"symkit/cfi"
	"symkit/emit"
	"symkit/walk/internal/cpu"
	"symkit/walk/internal/rules"
)

// byWin applies the STACK WIN record at the frame: x86 Windows code
// (reference: Breakpad's symbol_files.md, "STACK WIN records"). The document does not
// specify the search for the return address and for %ebp: the search here is that of
// Breakpad's walker.
func byWin(v *view, c *callee) (out cpu.Registers, result verdict, err error) {
	u := v.rulesAt(c.Module, c.Lookup())
	if u == nil || !u.hasWin {
		return out, notFound, errNoRules
	}

	s := winStep{view: v, callee: c, win: u.record, sp: v.SP(c.regs)}
	if called := v.rulesAt(c.called.Module, c.called.Lookup()); called != nil {
		s.params = uint64(called.params)
	}
	s.findSearch()
	if u.win != nil {
		out, result, err = s.program(u.win)
	} else {
		out, result, err = s.fpo()
	}

	if result == found {
		result = s.repair(&out)
	}
	return out, result, err
}

const (
	x86BX = 3
	x86SP = 4
	x86BP = 5
)

// winStep is one step from a frame to its caller by a STACK WIN record.
type winStep struct {
	*view
	*callee
	win emit.StackWin
	// params is next_parameter_size: the size in bytes of the arguments of the function that the frame
	// called, which are still on the stack, at the frame's stack pointer.
	params uint64
	sp     uint64 // %esp of the frame
	search uint64 // .raSearchStart
}

// Limits of searches, in words: the return address may be a few words higher
// where the stack was aligned; a saved %ebp is not looked for in more.
const (
	winRescan   = 3
	winBPSearch = 256
)

// findSearch finds the place where the return address should be.
func (s *winStep) findSearch() {
	size := uint64(s.win.LocalSize) + uint64(s.win.SavedRegsSize) + s.params
	start := s.Narrow(s.sp + size)
	// Where the stack was aligned the return address is a few words higher.
	at, ok := s.findReturn(start, winRescan+1)
	if ok && at == start && len(s.win.Program) == 0 && s.Trust == TrustContext {
		// After a system call its return address may still be on the stack.
		if pc, _ := s.Word(at); pc == s.PC {
			start = s.Narrow(start + 4)
			at, ok = s.findReturn(start, winRescan+1)
		}
	}

	s.search = start
	if ok {
		s.search = at
	}
	// A program that aligns %esp (@) rounded it down: only %ebp shows where the return address
	// is.
	if bp, ok := s.regs.Get(x86BP); ok && bytes.IndexByte(s.win.Program, '@') >= 0 {
		s.search = s.Narrow(bp + 4)
	}
}

// findReturn finds the first of n words from at on that can be a return
// address.
func (v *view) findReturn(at, n uint64) (uint64, bool) {
	for ; n > 0; n-- {
		word, ok := v.Word(at)
		if !ok {
			return 0, false
		}
		if v.isReturn(word) {
			return at, true
		}
		at = v.Narrow(at + v.WordSize())
	}
	return 0, false
}

var errNoResult = errors.New("the program sets no $eip or no $esp")

// program runs the program string. %ebp keeps its value if the program does not set
// %ebp; other registers that are not set become unknown.
func (s *winStep) program(p *rules.Program) (out cpu.Registers, _ verdict, err error) {
	s.syms.cost.terms(p.Terms)
	e := &s.eval
	e.Begin(p, s.regs)
	err = e.RunWin([...]uint64{uint64(s.win.ParamSize), s.params, uint64(s.win.SavedRegsSize), uint64(s.win.LocalSize), s.search, s.search})
	if err != nil {
		if err == cpu.ErrMemory {
			s.reaches(s.view, e.Lost+4, true)
		}
		return out, notFound, err
	}

	if bp, ok := s.regs.Get(x86BP); ok {
		out.Set(x86BP, bp)
	}
	pcSet := e.Assigned(&out)

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
func (s *winStep) fpo() (out cpu.Registers, _ verdict, err error) {
	pc, ok := s.Word(s.search)
	if !ok {
		s.reaches(s.view, s.search+4, true)
		return out, notFound, cpu.ErrMemory
	}

	out.PC = pc
	out.Set(x86SP, s.Narrow(s.search+4))
	if s.win.AllocatesBP {
		bp, ok := s.Word(s.Narrow(s.sp + s.params + uint64(s.win.SavedRegsSize) - 8))
		if !ok {
			s.lossy = true
			return out, notFound, cpu.ErrMemory
		}
		out.Set(x86BP, bp)
	} else {
		for _, reg := range [...]cfi.Reg{x86BX, x86BP} {
			if v, ok := s.regs.Get(reg); ok {
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
func (s *winStep) repair(out *cpu.Registers) verdict {
	result, skipped := found, uint64(0)
	if !s.returnsToCode(out.PC) && s.scans > 0 {
		n := uint64(scanWords)
		if s.Trust == TrustContext {
			n = scanWordsLong
		}
		// The first frame is searched further, since its function may have pushed much.
		from := s.Narrow(s.search + 4)
		if at, ok := s.findReturn(from, n); ok {
			out.PC, _ = s.Word(at)
			out.Set(x86SP, s.Narrow(at+4))
			result, skipped = searched, s.Narrow(at-from)
		}
	}

	// The function leaves %ebp alone.
	if len(s.win.Program) == 0 && !s.win.AllocatesBP {
		return result
	}
	bp, _ := out.Get(x86BP)
	// A %ebp that points into a skipped frame, or to no stack, is searched for.
	inFrame := result == searched && bp <= s.search+skipped // then that of a frame that was skipped
	if inFrame || !s.Connected(s.sp, bp) {
		s.findBP(out, skipped)
	}
	return result
}

// findBP sets %ebp to the topmost word of the saved registers that points up the
// stack. Compilers save %ebp first.
func (s *winStep) findBP(out *cpu.Registers, skipped uint64) {
	n := min(uint64(s.win.SavedRegsSize)+skipped, 4*winBPSearch)
	bottom := s.sp + s.params
	for i := range n/4 + 1 {
		at := s.Narrow(bottom + n - 4*i)
		v, ok := s.Word(at)
		if !ok {
			return
		}
		if s.Connected(at, v) {
			out.Set(x86BP, v)
			return
		}
	}
}
