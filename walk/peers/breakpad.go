package peers

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"

	"symkit/internal/printable"
	"symkit/walk"
	"symkit/walk/internal/shown"
)

// BreakpadOptions selects the parts of the report.
type BreakpadOptions struct {
	// Brief shows only the thread that crashed or requested the dump, a line for each frame.
	Brief bool
	// Requesting leaves out the other threads.
	Requesting bool
	// Thread is the number of the only other thread to show, and then the modules are left
	// out; -1: all. Writing a number that no thread has is an error of the caller.
	Thread int
	// Contents shows the memory of the stacks.
	Contents bool
	// Pointers shows the target of each word of a stack instead of the frames.
	Pointers bool
}

// BreakpadThreads returns the number of threads that Breakpad's text numbers.
func BreakpadThreads(p *walk.Process) int { return len(shown.Numbers(p)) }

// Breakpad writes a result as Breakpad's minidump_stackwalk does for people. The walk needs
// the options Registers and, for Contents and Pointers, Contents.
func Breakpad(out io.Writer, r *walk.Result, opt BreakpadOptions) error {
	w := &breakpadWriter{peerText{bufio.NewWriter(&printable.Writer{W: out}), r}, opt, shown.Numbers(r.Process), nil}
	if opt.Brief {
		w.brief()
		return w.Flush()
	}

	w.head()
	crashed := r.Crashed()
	if crashed >= 0 {
		w.printf("\n")
		w.title(&r.Stacks[crashed])
		w.stack(&r.Stacks[crashed])
	}

	for i := range r.Stacks {
		s := &r.Stacks[i]
		n := w.number[s.Thread]
		switch {
		case s.Thread.Writer, opt.Thread >= 0 && n != opt.Thread, opt.Thread < 0 && (opt.Requesting || i == crashed):
			continue
		}
		w.printf("\nThread %d\n", n)
		w.stack(s)
	}
	if opt.Thread < 0 {
		w.modules()
	}
	return w.Flush()
}

type breakpadWriter struct {
	peerText
	opt    BreakpadOptions
	number map[*walk.Thread]int
	shown  []walk.NamedRegister // of the frame before
}

// title prints the line above the stack of the thread that crashed or requested the dump.
func (w *breakpadWriter) title(s *walk.Stack) {
	why := "crashed"
	if !w.r.Process.Crash.Crashed() {
		why = "requested dump, did not crash"
	}
	w.printf("Thread %d (%s)\n", w.number[s.Thread], why)
}

func (w *breakpadWriter) brief() {
	i := w.r.Crashed()
	if i < 0 {
		w.printf(" <no crashing or requesting dump thread identified>\n")
		return
	}
	w.title(&w.r.Stacks[i])
	w.frames(&w.r.Stacks[i], func(*walk.Frame, bool) { w.printf("\n") })
}

// head prints the system and the crash.
func (w *breakpadWriter) head() {
	p := w.r.Process
	f := &p.Facts
	version := f.VersionLine
	if version == "" {
		version = p.OSVersion
	}
	w.printf("Operating system: %s\n                  %s\nCPU: %s\n", p.OS, printable.String(version), shown.CPU(p.CPU))
	if f.CPUInfo != "" {
		w.printf("     %s\n", printable.String(f.CPUInfo))
	}
	plural := "s"
	if f.CPUs == 1 {
		plural = ""
	}
	w.printf("     %d CPU%s\n\n", f.CPUs, plural)

	if len(f.GL) > 0 {
		gl := append(slices.Clone(f.GL), "", "")
		w.printf("GPU: %s\n     %s\n     %s\n\n", printable.String(gl[0]), printable.String(gl[1]), printable.String(gl[2]))
	} else {
		w.printf("GPU: UNKNOWN\n\n")
	}

	c := &p.Crash
	if c.Crashed() {
		reason := c.Breakpad
		if reason == "" {
			reason = c.Reason
		}
		w.printf("Crash reason:  %s\nCrash address: 0x%x\n", printable.String(reason), c.Address)
		for i, v := range c.Parameters {
			if i == 0 {
				w.printf("Crash parameters:\n")
			}
			w.printf("    value: 0x%016x  description: \n", v)
		}
	} else {
		w.printf("No crash\n")
	}

	if f.Assertion != "" {
		w.printf("Assertion: %s\n", printable.String(f.Assertion))
	}
	if f.HasUptime {
		w.printf("Process uptime: %d seconds\n", f.Uptime)
	} else {
		w.printf("Process uptime: not available\n")
	}
}

// frames prints the first line of each frame up to its end, and calls rest for the further
// lines. An inlined call is a frame of its own.
func (w *breakpadWriter) frames(s *walk.Stack, rest func(f *walk.Frame, inlined bool)) {
	n := 0
	for i := range s.Frames {
		if w.failed() {
			return
		}
		f := &s.Frames[i]
		for j := range f.Place.Inlines {
			in := &f.Place.Inlines[j]
			w.header(n, f, f.Lookup(), in.Func, in.File, in.Line)
			rest(f, true)
			n++
		}
		w.header(n, f, instruction(w.r.Process, f), f.Place.Func, f.Place.File, f.Place.Line)
		rest(f, false)
		n++
	}
}

// header prints the number, the module and the place of a frame. Offsets count from the
// line, the function or the module, whichever is known.
func (w *breakpadWriter) header(n int, f *walk.Frame, pc uint64, fn, file string, line uint32) {
	w.printf("%2d  ", n)
	if f.Module == nil {
		w.printf("0x%x", pc)
		return
	}

	w.printf("%s", printable.String(f.Module.File()))
	switch {
	case fn == "":
		w.printf(" + 0x%x", pc-f.Module.Base)
	case file == "":
		w.printf("!%s + 0x%x", printable.String(fn), pc-f.Place.FuncAddr)
	default:
		w.printf("!%s [%s : %d + 0x%x]", printable.String(fn), printable.String(walk.BaseName(file)), line, pc-f.Place.LineAddr)
	}
}

func (w *breakpadWriter) stack(s *walk.Stack) {
	if w.opt.Pointers {
		w.pointers(s)
		return
	}
	if len(s.Frames) == 0 {
		w.printf(" <no frames>\n")
	}

	i := 0
	w.frames(s, func(f *walk.Frame, inlined bool) {
		w.printf("\n")
		if inlined {
			w.printf(" \n    Found by: inline record\n")
			return
		}
		w.frameRegisters(f)
		w.printf("    Found by: %s\n", breakpadTrust(f.Trust))
		i++
		if w.opt.Contents && i < len(s.Frames) {
			w.contents(f, &s.Frames[i])
		}
	})
}

// breakpadTrust returns Breakpad's words for a trust. A trust that Breakpad does not have
// has those of the nearest one.
func breakpadTrust(t walk.Trust) string {
	switch t {
	case walk.TrustSignal:
		t = walk.TrustCFI
	case walk.TrustLeaf:
		return "simulating a return from leaf function"
	case walk.TrustCode:
		t = walk.TrustFramePointer
	case walk.TrustListed:
		return "an external stack frame"
	}
	return t.String()
}

// frameRegisters prints the registers of a frame. The registers of x86 that no callee
// saves are shown of the innermost frame alone.
func (w *breakpadWriter) frameRegisters(f *walk.Frame) {
	cpu := w.r.Process.CPU
	names, digits := peerRegisters[cpu], 2*w.r.Process.WordSize()
	switch {
	case cpu == "x86" && f.Trust == walk.TrustContext:
		names = append(slices.Clone(names), "eax", "ecx", "edx", "efl=eflags")
	case cpu == "mips":
		digits = 16
	}
	w.shown = inBreakpad(cpu, f, w.shown)
	w.registers(f, w.shown, names, 5, digits)
}

// wordSize returns the size of a word for Breakpad's texts, or 0 for a CPU whose stacks
// Breakpad does not show.
func (w *breakpadWriter) wordSize() uint64 {
	switch w.r.Process.CPU {
	case "x86", "arm", "riscv":
		return 4
	case "x86_64", "arm64", "riscv64":
		return 8
	}
	return 0
}

const (
	perRow      = 16      // bytes
	maxContents = 1 << 16 // bytes of the stack of a frame
	maxStack    = 1 << 26 // bytes of the stack of a thread
)

// contents prints the memory from a frame's stack pointer to its caller's, and the
// pointers to functions in this memory.
func (w *breakpadWriter) contents(f, caller *walk.Frame) {
	word := w.wordSize()
	if word == 0 || f.SP == 0 || caller.SP == 0 {
		return
	}

	w.printf("\n    Stack contents:")
	// A frame of more than that is no frame: a scan went on in another stack.
	end := min(caller.SP, f.SP+maxContents)
	for at := f.SP; at < end && !w.failed(); at += perRow {
		w.printf("\n     %0*x", 2*word, at)
		w.row(at, perRow)
	}
	w.printf("\n    Possible instruction pointers:\n")
	for i := range f.Pointers {
		p := &f.Pointers[i]
		digits := int(2 * word)
		w.printf("     *(0x%0*x) = 0x%0*x <%s> [%s : %d + 0x%x]\n", digits, p.Addr, digits, p.Value, printable.String(p.Place.Func),
			printable.String(walk.BaseName(p.Place.File)), p.Place.Line, p.Value-p.Place.LineAddr)
	}
	w.printf("\n")
}

// row prints n bytes of memory in hexadecimal and as text.
func (w *breakpadWriter) row(at, n uint64) {
	hex, text := shown.HexRow(w.r.Process.Memory, at, n)
	w.printf("%s  %s", hex, text)
}

// pointers prints each word of a stack from the stack pointer up, with the target of the
// word: a function, an address of the stack, or neither.
func (w *breakpadWriter) pointers(s *walk.Stack) {
	if len(s.Frames) == 0 {
		w.printf(" <no frames>\n")
	}
	t := s.Thread
	if t.StackSize == 0 {
		w.printf(" <no stack memory>\n")
		return
	}

	// The innermost frame has the stack pointer.
	end, begin := t.StackBase+t.StackSize, t.StackBase
	if len(s.Frames) > 0 && s.Frames[0].SP != 0 {
		begin = s.Frames[0].SP
	}
	w.printf("stack begin:    0x%016x\nstack end:      0x%016x\nstack pointer:  0x%016x\n", t.StackBase, end, begin)
	word := w.wordSize()
	if word == 0 {
		w.printf("\nUnable to identifiy stack range.\n") // Breakpad's spelling
		return
	}

	w.printf("\nStack range to dump: 0x%016x - 0x%016x\n\nPossible instruction pointers:\n", begin, end)
	chain := map[uint64]uint64{} // address of the stack → address of the word that points there
	named := s.Pointers

	// A damaged dump can have a stack pointer far below the stack. No real stack is longer than
	// maxStack.
	size := uint64(0)
	if begin < end {
		size = min(end-begin, maxStack)
	}
	for from := uint64(0); from < size && !w.failed(); from += word {
		at := begin + from
		v, ok := w.word(at, word)
		if !ok {
			continue
		}

		// named is in the order of addresses.
		for len(named) > 0 && named[0].Addr < at {
			named = named[1:]
		}

		w.printf(" *(0x%0*x) = 0x%0*x", 2*int(word), at, 2*int(word), v)
		switch {
		case len(named) > 0 && named[0].Addr == at:
			// The line is that of the innermost inlined call.
			place := named[0].Place
			file, line := place.File, place.Line
			if len(place.Inlines) > 0 {
				file, line = place.Inlines[0].File, place.Inlines[0].Line
			}
			w.printf(" %s [%s : %d + 0x%x]", printable.String(place.Func), printable.String(walk.BaseName(file)), line, v-place.LineAddr)
		case v >= begin && v < end:
			w.printf(" -- stack_address")
			if before := chain[at]; before != 0 {
				w.printf("  (part of a chain: 0x%016x --> 0x%016x)", before, at)
			}
			chain[v] = at
		case w.opt.Contents:
			w.row(at, min(word, end-at))
		}
		w.printf("\n")
	}
	w.printf("\n")
}

// word reads a word of the stack.
func (w *breakpadWriter) word(at, size uint64) (v uint64, ok bool) {
	b := w.r.Process.Memory.Bytes(at, size)
	for i := range b {
		if !w.r.Process.BigEndian {
			i = len(b) - 1 - i
		}
		v = v<<8 | uint64(b[i])
	}
	return v, b != nil
}

// modules prints the modules, and whether their symbols were missing.
func (w *breakpadWriter) modules() {
	w.printf("\nLoaded modules:\n")
	// Modules without symbols are distinguished by name and id.
	missing := map[[2]string]bool{}
	corrupt := map[*walk.Module]bool{}
	for i := range w.r.Modules {
		m := &w.r.Modules[i]
		if m.Missing() && m.Met {
			missing[identity(m.Module)] = true
		}
		corrupt[m.Module] = m.BadLines > 0
	}

	for _, m := range listed(w.r.Process) {
		version, id := m.Version, identity(m)
		if version == "" {
			version = "???"
		}

		w.printf("0x%08x - 0x%08x  %s  %s", m.Base, lastAddress(m), printable.String(m.File()), printable.String(version))
		if m == w.r.Process.Main {
			w.printf("  (main)")
		}
		what := ""
		switch {
		case missing[id]:
			what = "No"
		case corrupt[m]:
			what = "Corrupt"
		}
		if what != "" {
			w.printf("  (WARNING: %s symbols, %s)", what, printable.String(fmt.Sprintf("%s, %s", walk.BaseName(id[0]), id[1])))
		}
		w.printf("\n")
	}
}

// identity returns the name and the id of a module's debug file.
func identity(m *walk.Module) [2]string { return [2]string{m.DebugFile, cmp.Or(m.DebugID, m.ShownID)} }
