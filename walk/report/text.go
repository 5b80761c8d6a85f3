package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"symkit/internal/printable"
	"symkit/internal/quantity"
	"symkit/walk"
	"symkit/walk/internal/shown"
)

// TextOptions selects the parts of the text.
type TextOptions struct {
	// Brief leaves out registers, modules, and how frames were found.
	Brief bool
	// Contents shows the memory of the stacks, where there is a caller.
	Contents bool
}

// Text writes a result for people: why the process died, the stack of the thread that
// crashed, the other stacks, the modules. In a caller's frame, offsets from functions and
// lines are those of the call, which is before the return address. Characters that control
// a terminal are written as \xNN.
func Text(out io.Writer, r *walk.Result, opt TextOptions) error {
	w := &textWriter{Writer: bufio.NewWriter(&printable.Writer{W: out}), r: r, opt: opt, number: shown.Numbers(r.Process), prefix: map[*walk.Module]string{}}
	w.process()
	for _, s := range shown.Ordered(r) {
		w.stack(s)
	}
	if !opt.Brief {
		w.modules()
	}
	return w.Flush()
}

type textWriter struct {
	*bufio.Writer
	r      *walk.Result
	opt    TextOptions
	number map[*walk.Thread]int
	prefix map[*walk.Module]string // of the functions of a module; names can have 64 KiB
}

func (w *textWriter) printf(format string, args ...any) { fmt.Fprintf(w, format, args...) }

// failed reports whether an earlier write has failed.
func (w *textWriter) failed() bool {
	_, err := w.Write(nil)
	return err != nil
}

// field prints a line of the head, unless it has no value.
func (w *textWriter) field(name, value string) {
	if value != "" {
		w.printf("%-9s%s\n", name+":", printable.String(value))
	}
}

func (w *textWriter) process() {
	p := w.r.Process
	command := p.Args
	if command == "" {
		command = p.Name
	}

	w.field("Process", command)
	if p.PID != 0 {
		w.field("PID", fmt.Sprint(p.PID))
	}
	w.field("System", strings.TrimSpace(p.OS+" "+p.OSVersion)+", "+p.CPU)
	w.machine()
	w.field("GPU", p.Facts.GPU)
	w.field("Crash", w.reason())
	w.field("Assert", p.Facts.Assertion)
	if p.Facts.Signature != "" {
		w.printf("Signature: %s\n", printable.String(p.Facts.Signature))
	}
	if p.Facts.HasUptime {
		w.field("Uptime", quantity.Count(p.Facts.Uptime, "second", "seconds"))
	}
	w.field("Threads", fmt.Sprint(len(p.Threads)))
}

// machine prints the CPU.
func (w *textWriter) machine() {
	f := &w.r.Process.Facts
	text := f.CPUInfo
	if f.CPUs > 0 {
		if text != "" {
			text += ", "
		}
		text += fmt.Sprintf("%d CPU", f.CPUs)
		if f.CPUs > 1 {
			text += "s"
		}
	}
	w.field("CPU", text)
}

// reason returns the reason of the crash, with the address of the fault or the sender
// of the signal.
func (w *textWriter) reason() string {
	p := w.r.Process
	reason := p.Crash.Reason
	switch {
	case p.Crash.Unnamed:
		return "unknown"
	case reason == "":
		return "none"
	case p.Crash.HasAddress:
		reason += fmt.Sprintf(" at %#x", p.Crash.Address)
	case p.Crash.Sender != 0 && p.Crash.Sender != p.PID:
		reason += fmt.Sprintf(", sent by process %d", p.Crash.Sender)
	}

	for i, v := range p.Crash.Parameters {
		if i == 0 {
			reason += ", parameters"
		}
		reason += fmt.Sprintf(" %#x", v)
	}
	return reason
}

func (w *textWriter) stack(s *walk.Stack) {
	title := fmt.Sprintf("Thread %d", s.Thread.ID)
	if s.Thread.Name != "" {
		title += " " + printable.String(s.Thread.Name)
	}

	var remarks []string
	if !w.opt.Brief {
		remarks = append(remarks, fmt.Sprintf("number %d", w.number[s.Thread]))
	}
	p := w.r.Process
	switch {
	case p.Crashed < 0 || s.Thread != &p.Threads[p.Crashed]:
	case p.Crash.Crashed():
		remarks = append(remarks, "crashed")
	default:
		remarks = append(remarks, "asked for the dump")
	}

	// The remarks follow the name in parentheses.
	if len(remarks) > 0 {
		title += " (" + strings.Join(remarks, ", ") + ")"
	}
	w.printf("\n%s\n", title)
	n := 0
	for i := range s.Frames {
		if w.failed() {
			return
		}
		n = w.frame(&s.Frames[i], n)
		if !w.opt.Brief {
			w.frameRegisters(&s.Frames[i])
		}
		if w.opt.Contents && i+1 < len(s.Frames) {
			w.stackContents(&s.Frames[i], &s.Frames[i+1])
		}
	}

	if !s.Complete {
		w.printf("    stack ends here: %s\n", s.End)
	}
}

// frame prints a frame. Its inlined calls come before it, as frames of their own.
func (w *textWriter) frame(f *walk.Frame, n int) int {
	for i := range f.Place.Inlines {
		in := &f.Place.Inlines[i]
		w.printf("%3d  %s%s", n, w.moduleName(f), printable.String(in.Func))
		w.position(in.File, in.Line)
		w.printf("  (inlined)\n")
		n++
	}

	w.printf("%3d  %s", n, w.moduleName(f))
	// Offsets count from the nearest start that is known.
	at := f.Lookup()
	switch {
	case f.Place.Func != "":
		w.printf("%s + %#x", printable.String(f.Place.Name()), at-f.Place.FuncAddr)
	case f.Module != nil:
		w.printf("+ %#x", at-f.Module.Base)
	default:
		w.printf("%#x", at)
	}

	w.position(f.Place.File, f.Place.Line)
	if f.Signal {
		w.printf("  <signal handler called>")
	}
	w.printf("\n")
	if !w.opt.Brief {
		w.printf("     pc %#x, ", f.PC)
		if f.Place.File != "" {
			w.printf("line + %#x, ", f.PC-f.Place.LineAddr)
		}
		w.printf("sp %#x, found by %s", f.SP, f.Trust)
		if f.Why != "" && f.Trust < walk.TrustSignal {
			w.printf(" (%s)", f.Why)
		}
		w.printf("\n")
	}
	return n + 1
}

func (w *textWriter) moduleName(f *walk.Frame) string {
	if f.Module == nil {
		return ""
	}
	name, known := w.prefix[f.Module]
	if !known {
		name = printable.String(f.Module.File()) + "!"
		w.prefix[f.Module] = name
	}
	return name
}

func (w *textWriter) position(file string, line uint32) {
	if file != "" {
		w.printf(" [%s:%d]", printable.String(file), line)
	}
}

func (w *textWriter) modules() {
	w.printf("\nModules\n")
	digits := 2 * w.r.Process.WordSize()
	for i := range w.r.Modules {
		m := w.r.Modules[i].Module
		w.printf("0x%0*x-0x%0*x  %s", digits, m.Base, digits, m.End, printable.String(m.Path))
		if m.Version != "" {
			w.printf("  %s", printable.String(m.Version))
		}
		if m.DebugID != "" {
			w.printf("  %s", printable.String(m.DebugID))
		}
		if m == w.r.Process.Main {
			w.printf("  (main)")
		}
		if w.r.Modules[i].Missing() {
			w.printf("  (no symbols)")
		}
		w.printf("\n")
	}

	for i := range w.r.Process.Facts.Unloaded {
		m := &w.r.Process.Facts.Unloaded[i]
		w.printf("0x%0*x-0x%0*x  %s  (unloaded)\n", digits, m.Base, digits, m.End, printable.String(m.Name))
	}
}
