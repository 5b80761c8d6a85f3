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
// minidump_format.h).
func (w *writer) head() {
	const headerSize, entrySize = 32, 12
	streams := []struct {
		typ   mdmp.StreamType
		write func() (size int)
	}{
		{mdmp.SystemInfoStream, w.systemInfo}, {mdmp.MiscInfoStream, w.miscInfo}, {mdmp.ThreadListStream, w.threads}, {mdmp.ModuleListStream, w.modules},
		{mdmp.MemoryListStream, w.memoryList}, {mdmp.ExceptionStream, w.exception}, {mdmp.LinuxProcStatusStream, w.status},
		{mdmp.LinuxCmdLineStream, w.commandLine}, {mdmp.LinuxAuxvStream, w.file(w.c.AuxV)}, {mdmp.LinuxMapsStream, w.file(w.c.Maps)},
	}
	w.out = append(w.out[:0], make([]byte, headerSize+len(streams)*entrySize)...)

	// Each stream is the last that its function appends.
	var directory []byte
	count := uint32(0)
	for _, s := range streams {
		w.align()
		size := s.write()
		if size == 0 {
			continue
		}
		count++
		directory = w.order.AppendUint32(directory, uint32(s.typ))
		directory = w.order.AppendUint32(directory, uint32(size))
		directory = w.order.AppendUint32(directory, uint32(len(w.out)-size))
	}
	w.align()

	const signature, version = 0x504d444d, 0xa793
	head := w.order.AppendUint32(nil, signature)
	for _, v := range []uint32{version, count, headerSize, 0, 0, 0, 0} {
		head = w.order.AppendUint32(head, v)
	}
	copy(w.out, append(head, directory...))
}

// since returns the number of bytes that were appended since the head had the given length.
func (w *writer) since(length int) int { return len(w.out) - length }

// systemInfo writes MINIDUMP_SYSTEM_INFO.
func (w *writer) systemInfo() int {
	version := w.text("")
	w.align()
	start := len(w.out)
	w.u16(uint16(w.cpu), 0, 0)
	w.out = append(w.out, byte(min(w.c.Processors, 255)), 0)
	w.u32(0, 0, 0, uint32(mdmp.OSLinux), version)
	w.u16(0, 0)
	w.out = append(w.out, make([]byte, mdmp.CPUInformationSize)...)
	return w.since(start)
}

// miscInfo writes MINIDUMP_MISC_INFO.
func (w *writer) miscInfo() int {
	if w.c.Process.PID == 0 {
		return 0
	}
	start := len(w.out)
	w.u32(24, uint32(mdmp.MiscProcessID), uint32(w.c.Process.PID), 0, 0, 0)
	return w.since(start)
}

// threads writes MINIDUMP_THREAD_LIST, the contexts before it.
func (w *writer) threads() int {
	p := w.c.Process
	contexts := make([]uint32, len(p.Threads))
	size := uint32(0)
	for i := range p.Threads {
		size, contexts[i] = w.put(mdmp.WriteContext(w.cpu, w.order, &p.Threads[i].Regs))
	}

	w.align()
	start := len(w.out)
	w.u32(uint32(len(p.Threads)))
	for i := range p.Threads {
		w.u32(uint32(p.Threads[i].ID), 0, 0, 0)
		w.u64(0)
		w.location(w.c.Stacks[i])
		w.u32(size, contexts[i])
	}
	return w.since(start)
}

// location writes the MINIDUMP_MEMORY_DESCRIPTOR of a part of one of the ranges of memory.
func (w *writer) location(r elfx.Range) {
	rva := uint64(0)
	for i, m := range w.c.Memory {
		if r.Lo >= m.Lo && r.Lo < m.Hi && w.rvas != nil {
			rva = w.rvas[i] + r.Lo - m.Lo
			break
		}
	}
	w.u64(r.Lo)
	w.u32(uint32(r.Hi-r.Lo), uint32(rva))
}

// memoryList writes MINIDUMP_MEMORY_LIST.
func (w *writer) memoryList() int {
	start := len(w.out)
	w.u32(uint32(len(w.c.Memory)))
	for i, r := range w.c.Memory {
		rva := uint64(0)
		if w.rvas != nil {
			rva = w.rvas[i]
		}
		w.u64(r.Lo)
		w.u32(uint32(r.Hi-r.Lo), uint32(rva))
	}
	return w.since(start)
}

// modules writes MINIDUMP_MODULE_LIST, names and CodeView records before it. The first is the
// program.
func (w *writer) modules() int {
	p := w.c.Process
	modules := slices.Clone(p.Modules)
	if i := slices.Index(modules, p.Main); i > 0 {
		modules = slices.Insert(slices.Delete(modules, i, i+1), 0, p.Main)
	}

	type strings struct{ name, size, record uint32 }
	texts := make([]strings, len(modules))
	for i, m := range modules {
		texts[i].name = w.text(writtenPath(m))
		texts[i].size, texts[i].record = w.put(w.codeView(m))
	}

	w.align()
	start := len(w.out)
	w.u32(uint32(len(modules)))
	for i, m := range modules {
		w.u64(m.Base)
		w.u32(uint32(min(m.End-m.Base, math.MaxUint32)), 0, 0, texts[i].name)
		w.out = append(w.out, make([]byte, 52)...) // VS_FIXEDFILEINFO
		w.u32(texts[i].size, texts[i].record, 0, 0)
		w.u64(0, 0)
	}
	return w.since(start)
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

// exception writes MINIDUMP_EXCEPTION_STREAM.
func (w *writer) exception() int {
	p := w.c.Process
	if p.Crash.Signal == 0 || p.Crashed < 0 {
		return 0
	}
	t := &p.Threads[p.Crashed]
	size, context := w.put(mdmp.WriteContext(w.cpu, w.order, &t.Regs))

	w.align()
	start := len(w.out)
	w.u32(uint32(t.ID), 0, uint32(p.Crash.Signal), uint32(p.Crash.Code))
	address := t.Regs.PC
	if p.Crash.HasAddress {
		address = p.Crash.Address
	}
	w.u64(0, address)
	w.u32(0, 0)
	w.out = append(w.out, make([]byte, 8*mdmp.MaxParameters)...)
	w.u32(size, context)
	return w.since(start)
}

// status writes the lines of /proc/PID/status that are known.
func (w *writer) status() int {
	p := w.c.Process
	if p.PID == 0 {
		return 0
	}
	name := strings.Map(func(r rune) rune {
		if r < ' ' {
			return '?'
		}
		return r
	}, p.Name)
	return w.file(fmt.Appendf(nil, "Name:\t%s\nPid:\t%d\nThreads:\t%d\n", name, p.PID, len(p.Threads)))()
}

// commandLine writes /proc/PID/cmdline.
func (w *writer) commandLine() int {
	if w.c.Process.Args == "" {
		return 0
	}
	return w.file(append(bytes.ReplaceAll([]byte(w.c.Process.Args), []byte{' '}, []byte{0}), 0))()
}

// file returns a function that writes the bytes of a file.
func (w *writer) file(data []byte) func() int {
	return func() int {
		w.out = append(w.out, data...)
		return len(data)
	}
}
