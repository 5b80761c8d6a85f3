package minidump

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"

	"symkit/internal/printable"
	"symkit/internal/quantity"
	"symkit/walk"
	"symkit/walk/internal/mdmp"
)

// Process is the crashed process of a dump, ready to be walked. The thread that only wrote
// the dump is marked as Writer. The process's Warnings list the lost parts. The process
// aliases the dump's bytes.
func (d *Dump) Process() *walk.Process {
	file := d.file
	b := &builder{d: file, left: file.Size()}
	s := &file.System
	version, build := s.VersionBuild()
	b.p = &walk.Process{
		OS: s.OS.String(), OSVersion: strings.TrimSpace(version + " " + build), CPU: s.CPU.ModuleName(), BigEndian: file.BigEndian,
		Crashed: -1, Memory: &file.Memory,
	}

	// Damage comes first among the warnings.
	for _, l := range file.Losses {
		b.warn("%v", l)
	}
	if file.Lost > len(file.Losses) {
		b.warn("%s more parts of the dump are damaged", quantity.Number(file.Lost-len(file.Losses)))
	}

	b.identity()
	b.entry()
	b.threads()
	b.crash()
	b.modules()
	b.mappings()
	b.facts()
	if file.Crashpad != nil {
		b.p.PACMask = file.Crashpad.AddressMask
	}
	return b.p
}

// identity finds the process's number and command line.
func (b *builder) identity() {
	d := b.d
	if d.Misc != nil && d.Misc.Flags&mdmp.MiscProcessID != 0 {
		b.p.PID = int(d.Misc.ProcessID)
	}

	// /proc/PID/status overrides the number in the miscellaneous information.
	for name, value := range mdmp.Fields(d.File(mdmp.LinuxProcStatusStream), ':') {
		if name != "Pid" {
			continue
		}
		if pid, err := strconv.Atoi(value); err == nil {
			b.p.PID = pid
		}
		break
	}

	// Each argument ends in NUL.
	if args := bytes.Trim(d.File(mdmp.LinuxCmdLineStream), "\x00"); len(args) > 0 {
		b.p.Args = string(bytes.ReplaceAll(args, []byte{0}, []byte{' '}))
	}
}

// entry finds where the program begins to execute: AT_ENTRY of the auxiliary vector
// (include/uapi/linux/auxvec.h).
func (b *builder) entry() {
	const atEntry = 9
	for key, v := range b.d.AuxV() {
		if key == atEntry {
			b.p.Entry = v
		}
	}
}

// threads reads the registers of all threads. A thread without a context stays in the list,
// so that the order of threads is the dump's.
func (b *builder) threads() {
	d := b.d
	// Names are in a stream of their own, by the ids of threads.
	names := make(map[uint32]mdmp.Text, len(d.ThreadNames))
	for _, n := range d.ThreadNames {
		names[n.ID] = n.Name
	}

	requesting := d.RequestingThread()
	// The thread's own registers are those of the exception handler: using them instead is
	// worth a warning.
	if e := d.Exception; e != nil && e.Context.Size != 0 {
		if _, err := d.Context(e.Context); err != nil {
			b.warn("registers of the exception: %v; those of its thread are used", err)
		}
	}

	for i := range d.Threads {
		t := &d.Threads[i]
		name, known := names[t.ID]
		out := walk.Thread{ID: int(t.ID), Name: b.text(name), Unnamed: known && name.Len() == 0,
			StackBase: t.Stack.Base, StackSize: uint64(len(d.Stack(t).Data)), LastError: b.lastError(t), Writer: d.WroteDump(t)}

		// The thread that wrote the dump can also be the one that requested it: it did not
		// crash.
		if i == requesting && !out.Writer {
			b.p.Crashed = i
		}

		// The registers of the thread that wrote the dump are of no interest, so their loss
		// needs no warning.
		regs, err := d.ThreadContext(t)
		out.Regs, out.NoRegs = regs, err != nil
		if err != nil && !out.Writer && len(b.p.Warnings) < mdmp.MaxLosses {
			b.warn("thread %d: registers: %v", t.ID, err)
		}
		b.p.Threads = append(b.p.Threads, out)
	}
}

// crash sets the reason of the crash, in the words of both tools, and the address.
func (b *builder) crash() {
	d := b.d
	e := d.Exception
	if e == nil {
		return
	}

	c := &b.p.Crash
	c.Reason, c.Breakpad, c.Parameters = crashReason(d, styleRust), crashReason(d, styleBreakpad), e.Parameters
	c.Address, c.HasAddress = crashAddress(d), true

	// The address is that of a fault only for some signals, depending on the code.
	if d.System.OS.Linux() {
		c.Signal, c.Code = int(int32(e.Code)), int(int32(e.Flags))
		// Old writers leave the code 0: take it for the code of a fault.
		c.HasAddress = walk.LinuxFault(c.Signal, c.Code) || c.Code == 0 && walk.LinuxFault(c.Signal, 1)
	}
}

// modules converts the modules and finds the program among them.
func (b *builder) modules() {
	d := b.d
	for i := range d.Modules {
		m := &d.Modules[i]
		out := &walk.Module{Path: b.path(m.Name), Base: m.Base, End: end(m.Base, uint64(m.Size)), Bias: m.Base,
			CodeID: d.CodeID(m), Version: d.Version(m), Order: i, Foreign: true}

		// Symbol files are stored under the name of the debug file.
		out.DebugFile = printable.Elide(walk.BaseName(m.DebugFile()), maxFileName)
		out.Name = cmp.Or(out.DebugFile, walk.BaseName(out.Path))

		// An identifier of zeros belongs to no file: it is shown, but symbols are not looked
		// for by it.
		v := &m.CodeView
		if v.Signature != mdmp.SignatureELF || v.Identified() {
			out.DebugID = d.DebugID(m)
		} else {
			out.ShownID = d.DebugID(m)
		}

		// Only ELF files with a build id can be looked for on this machine.
		if m.CodeView.Signature == mdmp.SignatureELF && d.System.OS.Linux() && m.CodeView.Identified() {
			out.BuildID, out.Foreign = m.CodeView.ID, false
		}
		b.p.Modules = append(b.p.Modules, out)
	}
	// Writers list the program first.
	if len(b.p.Modules) > 0 {
		b.p.Main = b.p.Modules[0]
		b.p.Name = walk.BaseName(b.p.Main.Path)
	}

	b.vdso()

	// Join the parts of files before the modules are sorted.
	b.spread()
	b.p.SortModules()
}

// vdso gives the module that the kernel puts into every process (AT_SYSINFO_EHDR of the
// auxiliary vector) its file, which is in memory alone, if the dump has that memory.
func (b *builder) vdso() {
	const atSysinfoEHDR, most = 33, 1 << 20
	for key, base := range b.d.AuxV() {
		i := slices.IndexFunc(b.p.Modules, func(m *walk.Module) bool { return m.Base == base })
		if key != atSysinfoEHDR || i < 0 {
			continue
		}
		for j := range b.d.Memory.Ranges {
			r := &b.d.Memory.Ranges[j]
			if base < r.Base || base >= r.End() {
				continue
			}
			image := r.Data[base-r.Base:]
			if bytes.HasPrefix(image, []byte("\x7fELF")) {
				b.p.Modules[i].Image = image[:min(len(image), most)]
				return
			}
		}
	}
}

// end returns the address after a range, or the last address if the range ends
// with the address space.
func end(base, size uint64) uint64 {
	if base+size < base {
		return ^uint64(0)
	}
	return base + size
}

// mappings sets the mappings of the process: those of Windows' list of pages, or else those
// of /proc/PID/maps.
func (b *builder) mappings() {
	d := b.d
	var all []walk.Mapping
	// Reserved and free pages have no memory.
	for i := range d.MemoryInfo {
		m := &d.MemoryInfo[i]
		if m.State == mdmp.MemCommit {
			read, write, execute := m.Access()
			all = append(all, walk.Mapping{Begin: m.Base, End: end(m.Base, m.Size), Read: read, Write: write, Execute: execute})
		}
	}
	if len(d.MemoryInfo) == 0 {
		for i := range d.Maps {
			m := &d.Maps[i]
			all = append(all, walk.Mapping{Begin: m.Begin, End: m.End, Read: m.Read, Write: m.Write, Execute: m.Execute})
		}
	}

	slices.SortStableFunc(all, func(a, b walk.Mapping) int { return cmp.Compare(a.Begin, b.Begin) })
	// Mappings of a damaged dump can overlap: the later one counts.
	for i := 1; i < len(all); i++ {
		all[i-1].End = min(all[i-1].End, all[i].Begin)
	}
	b.p.Mappings = all
}
