package peers

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"symkit/internal/printable"
	"symkit/walk"
	"symkit/walk/internal/shown"
)

// RustMinidumpOptions selects the parts of the report.
type RustMinidumpOptions struct {
	// Brief shows the crash and the stack of the thread that crashed alone.
	Brief bool
	// Arguments shows the probable arguments of functions (x86).
	Arguments bool
	// Signers are the subjects of the certificates that files were signed with, by the
	// name of the file.
	Signers map[string]string
	// Unimplemented and Unknown are lines about the streams of a minidump that
	// rust-minidump does not read.
	Unimplemented, Unknown []string
}

// RustMinidump writes a result as rust-minidump's minidump-stackwalk does for people. The
// walk needs the option Registers.
func RustMinidump(out io.Writer, r *walk.Result, opt RustMinidumpOptions) error {
	w := &rustWriter{peerText{bufio.NewWriter(&printable.Writer{W: out}), r}, opt, shown.NewUnloaded(r.Process.Facts.Unloaded), nil}
	w.head()
	crashed := r.Crashed()
	if crashed >= 0 {
		why := "crashed"
		if !r.Process.Crash.Crashed() {
			why = "requested dump, did not crash"
		}
		t := r.Stacks[crashed].Thread
		w.printf("Thread %d %s (%s) - tid: %d\n", crashed, printable.String(t.Name), why, t.ID)
		w.stack(&r.Stacks[crashed])
		w.printf("\n")
	}
	if opt.Brief {
		return w.Flush()
	}

	for i := range r.Stacks {
		if t := r.Stacks[i].Thread; i != crashed && !t.Writer {
			w.printf("Thread %d %s - tid: %d\n", i, printable.String(t.Name), t.ID)
			w.stack(&r.Stacks[i])
		}
	}
	w.modules()
	w.streams()
	return w.Flush()
}

type rustWriter struct {
	peerText
	opt      RustMinidumpOptions
	unloaded *shown.Unloaded
	shown    []walk.NamedRegister // of the frame before
}

// hex returns an address, padded to the CPU's width.
func (w *rustWriter) hex(v uint64) string { return fmt.Sprintf("0x%0*x", 2*w.r.Process.WordSize(), v) }

// head prints the system, the crash and the other facts about the process.
func (w *rustWriter) head() {
	p := w.r.Process
	f := &p.Facts
	w.printf("Operating system: %s\n", p.OS)
	if p.OSVersion != "" {
		w.printf("                  %s\n", printable.String(p.OSVersion))
	}
	w.printf("CPU: %s\n", shown.CPU(p.CPU))
	if f.CPUInfo != "" {
		w.printf("     %s\n", printable.String(f.CPUInfo))
	}
	plural := ""
	if f.CPUs > 1 {
		plural = "s"
	}
	w.printf("     %d CPU%s\n", f.CPUs, plural)
	if l := f.LSB; l != nil {
		w.printf("Linux %s\n", printable.String(fmt.Sprintf("%s %s - %s (%s)", l.ID, l.Release, l.Codename, l.Description)))
	}
	w.printf("\n")

	if p.Crash.Crashed() {
		w.crash()
	} else {
		w.printf("No crash\n")
	}
	if f.Assertion != "" {
		w.printf("Assertion: %s\n", printable.String(f.Assertion))
	}
	w.mac()
	if f.HasUptime {
		w.printf("Process uptime: %d seconds\n\n", f.Uptime)
	} else {
		w.printf("Process uptime: not available\n\n")
	}
	if n := len(p.Mappings); n > 0 && (p.OS == "Linux" || p.OS == "Android") {
		w.printf("Linux memory map count: %d\n\n", n)
	}
}

// crash prints the reason of the crash and the facts that follow from the crashing
// instruction.
func (w *rustWriter) crash() {
	p := w.r.Process
	f := shown.NewFault(p)
	address := w.hex(p.Crash.Address)
	w.printf("Crash reason:  %s\n", printable.String(p.Crash.Reason))
	switch f.Adjusted {
	case "non-canonical":
		w.printf("Crash address: %s **\n    ** Non-canonical address detected: %s\n", address, w.hex(f.Value))
	case "null-pointer":
		w.printf("Crash address: %s **\n    ** Null pointer detected with offset: %s\n", address, w.hex(f.Value))
	default:
		w.printf("Crash address: %s\n", address)
	}

	// Instructions of 32-bit code are not decoded there.
	if p.CPU == "x86_64" && f.Instruction != "" {
		w.printf("Crashing instruction: `%s`\n", f.Instruction)
	}
	if f.Known {
		w.accesses(f)
	}
	w.bitFlips(f)
	if lines := f.Inconsistencies(); len(lines) > 0 {
		w.printf("Crash is inconsistent:\n")
		for _, line := range lines {
			w.printf("  %s\n", line)
		}
	}
}

// accesses prints the memory that the crashing instruction accesses, and where it jumps.
func (w *rustWriter) accesses(f *shown.Fault) {
	guard := func(addr uint64) {
		if shown.GuardPage(w.r.Process, addr) {
			w.printf("     This address falls in a likely guard page.\n")
		}
	}

	if len(f.Effect.Accesses) == 0 {
		w.printf("No memory accessed by instruction\n")
	} else {
		w.printf("Memory accessed by instruction:\n")
	}
	for i, a := range f.Effect.Accesses {
		w.printf("  %d. Address: %s\n", i, w.hex(a.Addr))
		if a.Size > 0 {
			w.printf("     Size: %d\n", a.Size)
		} else {
			w.printf("     Size: Unknown\n")
		}
		guard(a.Addr)
		if kind := map[string]string{"read": "Read", "write": "Write", "read_write": "ReadWrite", "readwrite": "ReadWrite"}[a.Kind]; kind != "" {
			w.printf("     Access type: %s\n", kind)
		}
	}

	if !f.Effect.Jumps {
		w.printf("No instruction pointer update by instruction\n")
		return
	}
	w.printf("Instruction pointer update done by instruction:\n  Address: %s\n", w.hex(f.Effect.Target.Addr))
	guard(f.Effect.Target.Addr)
}

// bitFlips prints the addresses that the process may have meant, the likeliest first.
func (w *rustWriter) bitFlips(f *shown.Fault) {
	if w.r.Process.Crashed < 0 {
		return
	}
	flips := f.BitFlips()
	slices.SortStableFunc(flips, func(a, b shown.BitFlip) int {
		return cmp.Or(cmp.Compare(b.Confidence, a.Confidence), cmp.Compare(a.Addr, b.Addr))
	})
	for i, b := range flips {
		if i == 0 {
			w.printf("Crashing address may be the result of a flipped bit:\n")
		}
		register := ""
		if b.Register != "" {
			register = b.Register + "="
		}
		w.printf("  %d. Valid address: %s%s (%.3f)\n", i, register, w.hex(b.Addr), b.Confidence)
	}
}

// mac prints the crash records and the boot arguments of Apple's systems.
func (w *rustWriter) mac() {
	f := &w.r.Process.Facts
	if f.MacRecords != nil {
		w.printf("Mac Crash Info:\n")
		for i := range f.MacRecords {
			w.macRecord(i, &f.MacRecords[i])
		}
		w.printf("\n")
	}
	if f.MacBootArgs != nil {
		w.printf("Mac Boot Args: %s\n\n", printable.String(*f.MacBootArgs))
	}
}

// macRecord prints one crash record. Its numbers are decimal after 0x, as rust-minidump
// writes them.
func (w *rustWriter) macRecord(i int, m *walk.MacRecord) {
	w.printf("  Record %d\n", i)
	for _, n := range []struct {
		name  string
		value *uint64
	}{{"thread", m.Thread}, {"dialog mode", m.DialogMode}, {"abort_cause", m.AbortCause}} {
		if n.value != nil {
			w.printf("    %s: 0x%d\n", n.name, *n.value)
		}
	}
	for _, s := range [][2]string{{"module", m.Module}, {"message", m.Message}, {"signature string", m.Signature}, {"backtrace", m.Backtrace}, {"message2", m.Message2}} {
		if s[1] != "" {
			w.printf("    %s: %s\n", s[0], printable.String(s[1]))
		}
	}
}

func (w *rustWriter) stack(s *walk.Stack) {
	if len(s.Frames) == 0 {
		w.printf("<no frames>\n")
	}
	n := 0
	for i := range s.Frames {
		if w.failed() {
			return
		}
		f := &s.Frames[i]
		for _, in := range f.Place.Inlines {
			w.printf("%2d  ", n)
			if f.Module != nil {
				w.printf("%s", printable.String(f.Module.File()))
			}
			w.printf("!%s", printable.String(in.Func))
			if in.File != "" {
				w.printf(" [%s : %d]", printable.String(walk.BaseName(in.File)), in.Line)
			}
			w.printf("\n    Found by: inlining\n")
			n++
		}

		w.printf("%2d  ", n)
		w.frame(f)
		w.frameRegisters(f)
		w.printf("    Found by: %s\n", rustTrust(w.r.Process.CPU, f.Trust))
		if w.opt.Arguments {
			w.arguments(s, i)
		}
		n++
	}
}

// frame prints the module and the place of a frame, or the module that was unloaded from
// there.
func (w *rustWriter) frame(f *walk.Frame) {
	at, place := f.Lookup(), f.Place
	if f.Module == nil {
		w.printf("0x%x", at)
		for _, u := range w.unloaded.At(at) {
			w.printf(" (unloaded %s@", printable.String(u.Name))
			for i, off := range u.Offsets {
				if i > 0 {
					w.printf("|")
				}
				w.printf("0x%x", off)
			}
			w.printf(")")
		}
		w.printf("\n")
		return
	}

	w.printf("%s", printable.String(f.Module.File()))
	switch {
	case place.Func == "":
		w.printf(" + 0x%x\n", at-f.Module.Base)
	case place.File == "":
		w.printf("!%s + 0x%x\n", printable.String(place.Func), at-place.FuncAddr)
	default:
		// Where a call is inlined, the offset counts from where the inlined code begins.
		begin := place.LineAddr
		if len(place.Inlines) > 0 {
			begin = place.CallAddr
		}
		w.printf("!%s [%s : %d + 0x%x]\n", printable.String(place.Func), printable.String(walk.BaseName(place.File)), place.Line, at-begin)
	}
}

// frameRegisters prints the registers of a frame.
func (w *rustWriter) frameRegisters(f *walk.Frame) {
	cpu := w.r.Process.CPU
	names, digits := peerRegisters[cpu], 2*w.r.Process.WordSize()
	if cpu == "x86" {
		names = append(slices.Clone(names), "eax", "ecx", "edx", "eflags")
	}
	w.shown = inRustMinidump(cpu, f, w.shown)
	w.registers(f, w.shown, names, 6, digits)
}

// rustTrust returns rust-minidump's words for a trust. A trust that rust-minidump does not
// have has those of the nearest one. On x86-64 it finds the caller of a leaf by scanning.
func rustTrust(cpu string, t walk.Trust) string {
	switch {
	case t == walk.TrustSignal:
		t = walk.TrustCFI
	case t == walk.TrustLeaf && cpu == "x86_64":
		t = walk.TrustScan
	case t == walk.TrustLeaf, t == walk.TrustCode:
		t = walk.TrustFramePointer
	case t == walk.TrustListed:
		return "recovered by external stack walker"
	}
	return t.String()
}

// modules prints the modules, and those that were unloaded.
func (w *rustWriter) modules() {
	w.printf("\nLoaded modules:\n")
	for _, m := range w.r.Process.Modules {
		version := m.Version
		if version == "" {
			version = "???"
		}
		w.printf("0x%08x - 0x%08x  %s  %s", m.Base, lastAddress(m), printable.String(m.File()), printable.String(version))
		if m == w.r.Process.Main {
			w.printf("  (main)")
		}
		w.signer(m.File())
	}

	w.printf("\nUnloaded modules:\n")
	unloaded := slices.Clone(w.r.Process.Facts.Unloaded)
	slices.SortStableFunc(unloaded, func(a, b walk.UnloadedModule) int { return cmp.Compare(a.Base, b.Base) })
	for i := range unloaded {
		m := &unloaded[i]
		w.printf("0x%08x - 0x%08x  %s", m.Base, m.End-1, printable.String(walk.BaseName(m.Name)))
		w.signer(walk.BaseName(m.Name))
	}
}

// signer ends the line of a module with the subject of the certificate it was signed with.
func (w *rustWriter) signer(file string) {
	if name, ok := w.opt.Signers[file]; ok {
		w.printf(" (%s)", printable.String(name))
	}
	w.printf("\n")
}

// streams prints the streams that rust-minidump does not read, and the errors while the
// dump was written.
func (w *rustWriter) streams() {
	for _, s := range []struct {
		title string
		lines []string
	}{{"Unimplemented", w.opt.Unimplemented}, {"Unknown", w.opt.Unknown}} {
		if len(s.lines) > 0 {
			w.printf("\n%s streams encountered:\n", s.title)
		}
		for _, line := range s.lines {
			w.printf("%s\n", printable.String(line))
		}
	}

	var errs []any
	if json.Unmarshal(w.r.Process.Facts.SoftErrors, &errs) == nil && len(errs) > 0 {
		text, err := json.MarshalIndent(errs, "", "  ")
		if err == nil {
			w.printf("\nSoft errors were encountered when minidump was written:\n%s\n", text)
		}
	}
}
