package report

import (
	"fmt"

	"symkit/internal/printable"
	"symkit/internal/quantity"
	"symkit/walk"
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
		hex, text := hexRow(w.r.Process.Memory, at, min(perRow, end-at))
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

// hexRow returns n bytes of memory in hexadecimal, each after a space, and as text. Bytes
// that the dump lacks are spaces.
func hexRow(m walk.Memory, at, n uint64) (hex, text []byte) {
	for i := range n {
		b := m.Bytes(at+i, 1)
		switch {
		case b == nil:
			hex, text = append(hex, "   "...), append(text, ' ')
			continue
		case b[0] >= ' ' && b[0] < 0x7f:
			text = append(text, b[0])
		default:
			text = append(text, '.')
		}
		hex = fmt.Appendf(hex, " %02x", b[0])
	}
	return hex, text
}
