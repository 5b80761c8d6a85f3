package walk

import "symkit/internal/quantity"

// walker walks one thread after the other.
type walker struct {
	view         *view
	limit        int      // frames
	keepRegs     int      // of how many frames of a stack; Options.Registers
	keepContents bool     // Options.Contents
	looked       uint64   // bytes of this stack that contents went through
	signals      []uint64 // stack pointers of the frames that signals interrupted
}

// walk finds the frames of one thread.
func (w *walker) walk(t *Thread) (s Stack) {
	s.Thread = t
	if (t.NoRegs || w.view.CPU == nil) && len(t.Listed) > 0 {
		w.list(&s, 0)
		return s
	}
	if t.Writer || t.NoRegs {
		s.End = "the dump lacks the registers"
		if t.Writer {
			s.End = "the thread wrote the dump"
		}
		return s
	}

	// The limits count for each stack.
	v := w.view
	w.signals, w.looked = w.signals[:0], 0
	if v.CPU != nil {
		v.reader.Reset(len(v.p.Threads))
	}
	regs := t.Regs.all()
	f := Frame{Saved: regs.PC, Exact: true, Trust: TrustContext}
	c := callee{Frame: &f, regs: &regs, called: &Frame{}, scans: maxScanned}
	if v.noScan || len(t.Listed) > 0 {
		c.scans = 0
	}
	for {
		f.PC = regs.PC
		if v.CPU != nil {
			f.SP = v.SP(&regs)
		}
		v.locate(&f)
		if v.CPU != nil && len(s.Frames) < w.keepRegs {
			f.Registers = named(v.CPU, &regs)
		}
		f.listed(t, len(s.Frames))
		s.Frames = append(s.Frames, f)
		if n := len(s.Frames); w.keepContents && n > 1 {
			w.contents(s.Frames, n-2)
		}
		switch {
		case v.CPU == nil:
			s.End = "no unwinder for " + v.p.CPU
			return s
		case len(s.Frames) >= w.limit:
			s.End = "more than " + quantity.Count(w.limit, "frame", "frames")
			return s
		case v.ctx.Err() != nil:
			s.End = v.ctx.Err().Error()
			return s
		case v.syms.cost.over() != nil:
			s.End = v.syms.cost.over().Error()
			return s
		}

		// From here on the frame is complete, and its caller is looked for.
		c.extent = extent{lossy: c.lossy}
		next, nextRegs, end := w.caller(&c)
		if n := len(s.Frames); n < len(t.Listed) && (end != "" || !t.Listed[n].is(nextRegs.PC)) {
			w.list(&s, n)
			return s
		}
		if end != "" {
			s.End, s.Complete = end, end == endOfStack
			return s
		}
		*c.called, f, regs = f, next, nextRegs
	}
}

// list adds the frames from the one with a number on that the dump lists.
func (w *walker) list(s *Stack, from int) {
	for i, l := range s.Thread.Listed[from:] {
		if len(s.Frames) >= w.limit {
			s.End = "more than " + quantity.Count(w.limit, "frame", "frames")
			return
		}
		f := Frame{PC: l.PC, Saved: l.PC, Exact: true, Trust: TrustListed}
		w.view.locate(&f)
		f.listed(s.Thread, from+i)
		s.Frames = append(s.Frames, f)
	}
	s.End = "the dump lists no further frame"
}

// longestCall is the length of the longest call instruction, in bytes.
const longestCall = 8

// is reports whether a frame with a program counter is the one that the dump lists.
func (l *ListedFrame) is(pc uint64) bool { return pc-l.PC <= longestCall }

// listed gives a frame without symbols the name of the function that the dump has of the thread's frame with a number.
func (f *Frame) listed(t *Thread, i int) {
	if i >= len(t.Listed) || f.Place.Func != "" {
		return
	}
	l := &t.Listed[i]
	if l.Func != "" && l.is(f.PC) {
		f.Place = &Place{Func: l.Func, FuncAddr: l.PC - l.Offset, Public: true}
	}
}

// locate finds the module and the symbols of a frame.
func (v *view) locate(f *Frame) {
	f.Module, f.Place = v.at(f.PC)
	if f.Module != nil {
		// Signal trampolines and entries are known by the symbol at PC itself.
		exact := f.Place
		f.Signal = exact.isTrampoline(f.PC)
		if exact.Public && !v.p.code(f.PC) {
			f.Place = noPlace // data above the last function
		}
		if !f.Exact && f.Trust > TrustCFIScan && exact.FuncAddr == f.PC && entries[exact.Func] {
			f.Exact, f.entry = true, true // no call pushed this return address
		}
	}

	// Go has goroutines return to the second instruction of goexit: on MIPS, fewer bytes from its
	// beginning than a call and its delay slot have.
	if n := f.PC - f.Place.FuncAddr; f.isEntry() && n > 0 && n < f.call {
		f.call = n
	}

	// A trampoline without a symbol is known by its code.
	if !f.Signal && v.CPU != nil && (f.Place.Func == "" || !f.Exact) {
		f.Signal = v.Signal(v.Code(f.PC, 16)) != nil
	}
	if f.Exact || f.Signal {
		return
	}

	// A return address is named by the call before it. Entries are in assembly, often without a size.
	f.Module, f.Place = v.at(f.Lookup())
	if f.Place.After && f.isEntry() && f.PC-f.Place.FuncAddr <= entrySize {
		place := *f.Place
		place.After = false
		f.Place = &place
	}
}
