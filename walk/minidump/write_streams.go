package minidump

import (
	"bytes"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"symkit/elfx"
	"symkit/walk"
	"symkit/walk/internal/mdmp"
)

// head makes the whole file except the memory (minidumpapiset.h; Breakpad's
// minidump_format.h). A stream is records, or bytes.
func (w *writer) head() {
	streams := []struct {
		typ     mdmp.StreamType
		content func() []any // nil: no stream
	}{
		{mdmp.SystemInfoStream, w.systemInfo}, {mdmp.MiscInfoStream, w.miscInfo}, {mdmp.ThreadListStream, w.threads},
		{mdmp.ModuleListStream, w.modules}, {mdmp.MemoryListStream, w.memoryList}, {mdmp.ExceptionStream, w.exception},
		{mdmp.LinuxProcStatusStream, w.status}, {mdmp.LinuxCmdLineStream, w.commandLine},
		{mdmp.LinuxAuxvStream, w.file(w.c.AuxV)}, {mdmp.LinuxMapsStream, w.file(w.c.Maps)},
	}
	header := mdmp.Header{Signature: mdmp.Signature, Version: mdmp.Version}
	directory := make([]mdmp.Stream, len(streams))
	w.out = w.out[:0]
	w.append(header)
	header.Directory.RVA = uint32(len(w.out))
	w.append(directory)

	for _, s := range streams {
		content := s.content()
		w.align()
		start := len(w.out)
		w.append(content...)
		if len(w.out) > start {
			directory[header.StreamCount] = mdmp.Stream{Type: s.typ, Location: mdmp.Location{Size: uint32(len(w.out) - start), RVA: uint32(start)}}
			header.StreamCount++
		}
	}
	w.align()
	copy(w.out, mdmp.Append(mdmp.Append(nil, w.order, header), w.order, directory))
}

// systemInfo is MINIDUMP_SYSTEM_INFO.
func (w *writer) systemInfo() []any {
	return []any{mdmp.SystemRecord{CPU: w.cpu, Processors: uint8(min(w.c.Processors, 255)), OS: mdmp.OSLinux, ServicePackAt: w.text("")}}
}

// miscInfo is MINIDUMP_MISC_INFO.
func (w *writer) miscInfo() []any {
	if w.c.Process.PID == 0 {
		return nil
	}
	return []any{mdmp.MiscInfo1{Size: mdmp.MiscSize1, Flags: mdmp.MiscProcessID, ProcessID: uint32(w.c.Process.PID)}}
}

// threads is MINIDUMP_THREAD_LIST. The contexts come before it.
func (w *writer) threads() []any {
	threads := make([]mdmp.Thread, len(w.c.Process.Threads))
	for i := range threads {
		t := &w.c.Process.Threads[i]
		threads[i] = mdmp.Thread{ID: uint32(t.ID), Stack: w.descriptor(w.c.Stacks[i]), Context: w.context(t)}
	}
	return []any{uint32(len(threads)), threads}
}

// context writes the registers of a thread.
func (w *writer) context(t *walk.Thread) mdmp.Location {
	return w.put(mdmp.WriteContext(w.cpu, w.order, &t.Regs))
}

// descriptor describes a part of one of the ranges of memory.
func (w *writer) descriptor(r elfx.Range) mdmp.MemoryDescriptor {
	rva := uint64(0)
	for i, m := range w.c.Memory {
		if r.Lo >= m.Lo && r.Lo < m.Hi && w.rvas != nil {
			rva = w.rvas[i] + r.Lo - m.Lo
			break
		}
	}
	return mdmp.MemoryDescriptor{Base: r.Lo, Memory: mdmp.Location{Size: uint32(r.Hi - r.Lo), RVA: uint32(rva)}}
}

// memoryList is MINIDUMP_MEMORY_LIST.
func (w *writer) memoryList() []any {
	all := make([]mdmp.MemoryDescriptor, len(w.c.Memory))
	for i, r := range w.c.Memory {
		all[i] = w.descriptor(r)
	}
	return []any{uint32(len(all)), all}
}

// modules is MINIDUMP_MODULE_LIST. Names and CodeView records come before it. The first is the
// program.
func (w *writer) modules() []any {
	p := w.c.Process
	modules := slices.Clone(p.Modules)
	if i := slices.Index(modules, p.Main); i > 0 {
		modules = slices.Insert(slices.Delete(modules, i, i+1), 0, p.Main)
	}

	all := make([]mdmp.ModuleRecord, len(modules))
	for i, m := range modules {
		size := uint32(min(m.End-m.Base, math.MaxUint32))
		all[i] = mdmp.ModuleRecord{Base: m.Base, Size: size, NameAt: w.text(writtenPath(m)), CVRecord: w.put(w.codeView(m))}
	}
	return []any{uint32(len(all)), all}
}

// writtenPath returns the path of a module with the name that symbol stores know it by.
func writtenPath(m *walk.Module) string {
	switch {
	case m.Name == "" || m.Name == m.File():
		return m.Path
	case !strings.HasPrefix(m.Path, "/"):
		return m.Name // the vdso
	}
	return path.Join(path.Dir(m.Path), m.Name)
}

// codeView returns the CodeView record of a module. One of zeros stands for a file without a
// build id.
func (w *writer) codeView(m *walk.Module) []byte {
	record := w.order.AppendUint32(nil, mdmp.SignatureELF)
	if len(m.BuildID) == 0 {
		return append(record, make([]byte, 16)...)
	}
	return append(record, m.BuildID...)
}

// exception is MINIDUMP_EXCEPTION_STREAM.
func (w *writer) exception() []any {
	p := w.c.Process
	if p.Crash.Signal == 0 || p.Crashed < 0 {
		return nil
	}
	t := &p.Threads[p.Crashed]
	address := t.Regs.PC
	if p.Crash.HasAddress {
		address = p.Crash.Address
	}
	return []any{mdmp.ExceptionRecord{ThreadID: uint32(t.ID), Code: uint32(p.Crash.Signal), Flags: uint32(p.Crash.Code),
		Address: address, Context: w.context(t)}}
}

// status is the lines of /proc/PID/status that are known.
func (w *writer) status() []any {
	p := w.c.Process
	if p.PID == 0 {
		return nil
	}
	name := strings.Map(func(r rune) rune {
		if r < ' ' {
			return '?'
		}
		return r
	}, p.Name)
	return []any{fmt.Appendf(nil, "Name:\t%s\nPid:\t%d\nThreads:\t%d\n", name, p.PID, len(p.Threads))}
}

// commandLine is /proc/PID/cmdline.
func (w *writer) commandLine() []any {
	if w.c.Process.Args == "" {
		return nil
	}
	return []any{append(bytes.ReplaceAll([]byte(w.c.Process.Args), []byte{' '}, []byte{0}), 0)}
}

// file is the bytes of a file.
func (w *writer) file(data []byte) func() []any { return func() []any { return []any{data} } }
