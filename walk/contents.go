package walk

import "symkit/internal/wire"

// Limits of what is kept for each stack beside its frames.
const (
	maxRegisterFrames = 256     // frames whose registers are kept,
	maxAllRegisters   = 1 << 16 // and those of all stacks
	maxContents       = 1 << 16 // bytes of stack that are looked through
)

// regValue is a register that is known in a frame.
type regValue struct {
	name int // in the CPU's names
	v    uint64
}

// known lists the registers that are known, in the order to show them.
func (c *cpu) known(r *Registers) (out []regValue) {
	for i, n := range c.names {
		if v, ok := r.Get(n.Reg); ok {
			out = append(out, regValue{i, v})
		}
	}
	return out
}

// Pointer is a word of the stack that points to code with a name.
type Pointer struct {
	Addr  uint64 // of the word
	Value uint64
	// Module and Place are those of Value.
	Module *Module
	Place  *Place
}

// keep notes what Options asks for of a frame.
func (w *walker) keep(f *Frame, r *Registers, index int) {
	if w.cpu != nil && index < w.keepRegs {
		f.regs = w.cpu.known(r)
	}
}

// contents looks through the stack of frame i, which ends where its caller's
// begins, for pointers to code.
func (w *walker) contents(frames []Frame, i int) {
	word := uint64(w.cpu.arch.WordSize)
	f, end := &frames[i], frames[i+1].SP
	for at := f.SP; at < end && end-at >= word && w.looked < maxContents; at += word {
		w.looked += word
		v, ok := w.eval.word(at)
		if !ok {
			continue
		}
		m := w.p.ModuleAt(v)
		if m == nil {
			continue
		}
		if place := w.syms.place(w.ctx, m, v); place.Func != "" {
			f.Pointers = append(f.Pointers, Pointer{at, v, m, place})
		}
	}
}

// stackContents prints the memory from a frame's stack pointer to its caller's,
// and what in it points to functions.
func (w *textWriter) stackContents(f, caller *Frame) {
	const perRow = 16
	if caller.SP <= f.SP {
		return
	}
	digits := 2 * w.r.Process.WordSize()
	end := min(caller.SP, f.SP+maxContents)
	w.printf("     stack:\n")
	for at := f.SP; at < end; at += perRow {
		w.printf("      %0*x ", digits, at)
		text := make([]byte, 0, perRow)
		for i := range min(perRow, end-at) {
			b := w.r.Process.Memory.Bytes(at+i, 1)
			switch {
			case b == nil:
				w.printf("   ")
				text = append(text, ' ')
				continue
			case b[0] >= ' ' && b[0] < 0x7f:
				text = append(text, b[0])
			default:
				text = append(text, '.')
			}
			w.printf(" %02x", b[0])
		}
		w.printf("%*s  %s\n", 3*(perRow-len(text)), "", text)
	}
	if end < caller.SP {
		w.printf("      and %d bytes more\n", caller.SP-end)
	}
	for i := range f.Pointers {
		p := &f.Pointers[i]
		w.printf("      *(0x%0*x) = 0x%0*x %s!%s + %#x", digits, p.Addr, digits, p.Value, wire.Printable(p.Module.File()), wire.Printable(p.Place.Func), p.Value-p.Place.FuncAddr)
		w.position(p.Place.File, p.Place.Line)
		w.printf("\n")
	}
}

// frameRegisters prints the registers that are known in a frame, four to a
// line.
func (w *textWriter) frameRegisters(f *Frame) {
	c := cpus[w.r.Process.CPU]
	if c == nil || len(f.regs) == 0 {
		return
	}
	digits := 2 * w.r.Process.WordSize()
	for i, reg := range f.regs {
		switch {
		case i == 0:
			w.printf("    ")
		case i%4 == 0:
			w.printf("\n    ")
		}
		w.printf(" %5s 0x%0*x", c.names[reg.name].Name, digits, reg.v)
	}
	w.printf("\n")
}
