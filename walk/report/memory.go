package report

import (
	"symkit/internal/printable"
	"symkit/internal/quantity"
	"symkit/walk"
	"symkit/walk/internal/shown"
)

// stackContents prints the memory from a frame's stack pointer to its caller's, and the
// pointers to functions in this memory.
func (w *textWriter) stackContents(f, caller *walk.Frame) {
	const (
		perRow   = 16
		maxBytes = 1 << 16
	)
	if caller.SP <= f.SP {
		return
	}

	digits := 2 * w.r.Process.WordSize()
	// The memory is shown as a hex dump, then the pointers to functions.
	end := min(caller.SP, f.SP+maxBytes)
	w.printf("     stack:\n")
	for at := f.SP; at < end; at += perRow {
		w.printf("      %0*x ", digits, at)
		hex, text := shown.HexRow(w.r.Process.Memory, at, min(perRow, end-at))
		w.printf("%-*s  %s\n", 3*perRow, hex, text)
	}

	if end < caller.SP {
		w.printf("      and %s more\n", quantity.Bytes(caller.SP-end))
	}
	// Each pointer is named by its function and line.
	for i := range f.Pointers {
		p := &f.Pointers[i]
		w.printf("      *(0x%0*x) = 0x%0*x %s!%s + %#x", digits, p.Addr, digits, p.Value, printable.String(p.Module.File()), printable.String(p.Place.Name()), p.Value-p.Place.FuncAddr)
		w.position(p.Place.File, p.Place.Line)
		w.printf("\n")
	}
}

// frameRegisters prints the registers that are known in a frame, four to a
// line.
func (w *textWriter) frameRegisters(f *walk.Frame) {
	if len(f.Registers) == 0 {
		return
	}
	digits := 2 * w.r.Process.WordSize()
	for i, reg := range f.Registers {
		switch {
		case i == 0:
			w.printf("    ")
		case i%4 == 0:
			w.printf("\n    ")
		}
		w.printf(" %5s 0x%0*x", reg.Name, digits, reg.Value)
	}
	w.printf("\n")
}
