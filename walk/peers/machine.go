package peers

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"symkit/internal/printable"
	"symkit/walk"
	"symkit/walk/internal/shown"
)

// Machine writes a result in the machine-readable format of Breakpad's minidump_stackwalk.
// Fields are separated by |. First come lines of the system, the crash and the modules;
// after an empty line come those of the frames, with the thread that crashed first. Offsets
// count from the return address. Threads and modules that Breakpad leaves out have no
// number.
func Machine(out io.Writer, r *walk.Result) error {
	w := &machineWriter{Writer: bufio.NewWriter(out), p: r.Process, number: shown.Numbers(r.Process)}
	w.head(r.Crashed())
	for _, m := range listed(w.p) {
		w.module(m)
	}

	w.line()
	for _, s := range shown.Ordered(r) {
		w.stack(s)
	}
	return w.Flush()
}

type machineWriter struct {
	*bufio.Writer
	p *walk.Process
	// number is a thread's number among those that did not write the dump.
	number map[*walk.Thread]int
}

// line writes a line of fields, which cannot have separators in them: Breakpad
// leaves these out. Other control characters are written as printable.String has them.
func (w *machineWriter) line(fields ...any) {
	for i, f := range fields {
		if i > 0 {
			w.WriteByte('|')
		}
		text := fmt.Sprint(f)
		if strings.ContainsAny(text, "|\n") {
			text = strings.NewReplacer("|", "", "\n", "").Replace(text)
		}
		w.WriteString(printable.String(text))
	}
	w.WriteByte('\n')
}

func (w *machineWriter) head(crashed int) {
	p := w.p
	version := p.Facts.VersionLine
	if version == "" {
		version = p.OSVersion
	}

	w.line("OS", p.OS, version)
	w.line("CPU", shown.CPU(p.CPU), p.Facts.CPUInfo, p.Facts.CPUs)
	gl := append(slices.Clone(p.Facts.GL), "", "", "")
	w.line("GPU", gl[0], gl[1], gl[2])
	// Breakpad names the reason in its own words.
	reason, addr, thread := p.Crash.Breakpad, "", ""
	if reason == "" {
		reason = p.Crash.Reason
	}

	switch {
	case reason != "" || p.Crash.Unnamed:
		addr = prefixed(p.Crash.Address)
	case p.Facts.Assertion != "":
		reason = p.Facts.Assertion
	default:
		reason = "No crash"
	}
	if crashed >= 0 {
		thread = fmt.Sprint(w.number[&p.Threads[p.Crashed]])
	}
	w.line("Crash", reason, addr, thread)
}

func (w *machineWriter) module(m *walk.Module) {
	main := 0
	if m == w.p.Main {
		main = 1
	}
	id := m.DebugID
	if id == "" {
		id = m.ShownID
	}
	w.line("Module", m.File(), m.Version, m.DebugFile, id, fmt.Sprintf("0x%08x", m.Base), fmt.Sprintf("0x%08x", lastAddress(m)), main)
}

func (w *machineWriter) stack(s *walk.Stack) {
	thread, n := w.number[s.Thread], 0
	for i := range s.Frames {
		if _, err := w.Write(nil); err != nil {
			return // it stays
		}
		f := &s.Frames[i]
		// An inlined call is a frame of its own, before that of its function.
		for j := range f.Place.Inlines {
			in := &f.Place.Inlines[j]
			w.frame(thread, n, f, f.Lookup(), in.Func, in.File, in.Line)
			n++
		}
		w.frame(thread, n, f, instruction(w.p, f), f.Place.Func, f.Place.File, f.Place.Line)
		n++
	}
}

// frame writes a frame, or a call inlined into one. Breakpad counts the offset of an
// inlined call from before the return address. The offset is that from the line, the
// function or the module, whichever is known.
func (w *machineWriter) frame(thread, n int, f *walk.Frame, pc uint64, fn, file string, line uint32) {
	module, number := "", ""
	if f.Module != nil {
		module = f.Module.File()
	}

	switch {
	case fn != "" && file != "":
		number = strconv.FormatUint(uint64(line), 10)
		pc -= f.Place.LineAddr
	case fn != "":
		pc -= f.Place.FuncAddr
	case f.Module != nil:
		file = ""
		pc -= f.Module.Base
	default:
		file = ""
	}
	w.line(thread, n, module, fn, file, number, prefixed(pc))
}

// beforeReturn is how far before a return address Breakpad counts, by CPU, where it does
// not count from the return address itself.
var beforeReturn = map[string]uint64{"arm": 2, "arm64": 4, "mips": 8, "mips64": 16, "ppc": 4, "ppc64": 8, "riscv": 4, "riscv64": 4}

// instruction returns the address from which Breakpad counts the offset of a frame.
func instruction(p *walk.Process, f *walk.Frame) uint64 {
	before := beforeReturn[p.CPU]
	switch {
	case f.Trust == walk.TrustContext || before == 0:
		return f.PC
	case p.CPU == "arm":
		return f.Saved - before
	}
	return f.PC - before
}

// lastAddress returns the last address of a module as the dump's own list has it.
func lastAddress(m *walk.Module) uint64 {
	if m.Size != 0 {
		return m.Base + m.Size - 1
	}
	return m.End - 1
}

// listed returns the modules in Breakpad's order, which is that of their last addresses.
func listed(p *walk.Process) []*walk.Module {
	modules := slices.Clone(p.Modules)
	slices.SortStableFunc(modules, func(a, b *walk.Module) int { return cmp.Compare(lastAddress(a), lastAddress(b)) })
	return modules
}

// prefixed returns a number in hexadecimal with its prefix.
func prefixed(v uint64) string { return fmt.Sprintf("%#x", v) }
