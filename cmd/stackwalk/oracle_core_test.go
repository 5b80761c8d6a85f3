//go:build oracle

package main

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"symkit/elfx"
)

// coreWriter appends what an ELF file is made of.
type coreWriter struct {
	order binary.AppendByteOrder
	wide  bool
	out   []byte
}

func (w *coreWriter) u16(v ...uint16) {
	for _, v := range v {
		w.out = w.order.AppendUint16(w.out, v)
	}
}

func (w *coreWriter) u32(v ...uint32) {
	for _, v := range v {
		w.out = w.order.AppendUint32(w.out, v)
	}
}

// word appends values of the width of an address.
func (w *coreWriter) word(v ...uint64) {
	for _, v := range v {
		if w.wide {
			w.out = w.order.AppendUint64(w.out, v)
		} else {
			w.out = w.order.AppendUint32(w.out, uint32(v))
		}
	}
}

func (w *coreWriter) note(typ uint32, desc []byte) {
	w.u32(5, uint32(len(desc)), typ)
	w.out = append(w.out, "CORE\x00\x00\x00\x00"...)
	w.out = append(w.out, desc...)
	for len(w.out)%4 != 0 {
		w.out = append(w.out, 0)
	}
}

func (w *coreWriter) program(typ elf.ProgType, flags elf.ProgFlag, off, addr, filesz, memsz uint64) {
	if w.wide {
		w.u32(uint32(typ), uint32(flags))
		w.word(off, addr, 0, filesz, memsz, 1)
		return
	}
	w.u32(uint32(typ))
	w.word(off, addr, 0, filesz, memsz)
	w.u32(uint32(flags), 1)
}

// buildCore writes a core file as the kernel of exe's machine does, with one
// thread.
func buildCore(exe *elfx.File, regs map[string]uint64, pages map[uint64][]byte) []byte {
	w := &coreWriter{order: binary.LittleEndian, wide: exe.Class == elf.ELFCLASS64}
	if exe.BigEndian {
		w.order = binary.BigEndian
	}
	notes := &coreWriter{order: w.order, wide: w.wide}
	notes.note(1, prstatus(w, exe.Machine, regs))
	if exe.Machine == elf.EM_S390 {
		fp := &coreWriter{order: w.order, wide: true}
		fp.word(0)
		for i := range 16 {
			fp.word(regs[fmt.Sprintf("f%d", i)])
		}
		notes.note(2, fp.out)
	}
	aux := &coreWriter{order: w.order, wide: w.wide}
	aux.word(9, exe.Entry, 0, 0)
	notes.note(6, aux.out)

	header, entry := 52, 32
	if w.wide {
		header, entry = 64, 56
	}
	addrs := slices.Sorted(maps.Keys(pages))
	var loads []elfx.Segment
	for _, s := range exe.Segments {
		if s.Type == elf.PT_LOAD {
			loads = append(loads, without(s, addrs)...)
		}
	}
	count := 1 + len(loads) + len(addrs)
	off := uint64(header + count*entry)
	ident := [16]byte{0x7f, 'E', 'L', 'F', byte(exe.Class), 1, 1}
	if exe.BigEndian {
		ident[5] = 2
	}
	w.out = append(w.out, ident[:]...)
	w.u16(uint16(elf.ET_CORE), uint16(exe.Machine))
	w.u32(1)
	w.word(0, uint64(header), 0)
	w.u32(0)
	w.u16(uint16(header), uint16(entry), uint16(count), 0, 0, 0)
	w.program(elf.PT_NOTE, 0, off, 0, uint64(len(notes.out)), 0)
	off += uint64(len(notes.out))
	for _, s := range loads {
		w.program(elf.PT_LOAD, s.Flags, off, s.Vaddr, 0, s.Memsz)
	}
	body := notes.out
	for _, addr := range addrs {
		flags := elf.PF_R | elf.PF_W | elf.PF_X // may be a trampoline's
		w.program(elf.PT_LOAD, flags, off, addr, uint64(len(pages[addr])), uint64(len(pages[addr])))
		off += uint64(len(pages[addr]))
		body = append(body, pages[addr]...)
	}
	return append(w.out, body...)
}

// without is what the pages leave of a segment.
func without(s elfx.Segment, pages []uint64) (parts []elfx.Segment) {
	end := s.Vaddr + s.Memsz
	for _, page := range pages {
		if page >= end || page+pageSize <= s.Vaddr {
			continue
		}
		if page > s.Vaddr {
			part := s
			part.Memsz = page - s.Vaddr
			parts = append(parts, part)
		}
		s.Vaddr = min(page+pageSize, end)
		s.Memsz = end - s.Vaddr
	}
	if s.Memsz > 0 {
		parts = append(parts, s)
	}
	return parts
}

// pageSize is that of the pages in dump.txt.
const pageSize = 4096

// prstatus is the note of a thread: up to the registers nothing but the
// signal and the thread's id is used.
func prstatus(w *coreWriter, machine elf.Machine, regs map[string]uint64) []byte {
	s := &coreWriter{order: w.order, wide: w.wide}
	head, pid := 72, 24
	if w.wide {
		head, pid = 112, 32
	}
	s.u32(11)
	s.out = append(s.out, make([]byte, pid-4)...)
	s.u32(1)
	s.out = append(s.out, make([]byte, head-pid-4)...)
	list := func(format string, from, to int) {
		for i := from; i <= to; i++ {
			s.word(regs[fmt.Sprintf(format, i)])
		}
	}
	switch machine {
	case elf.EM_AARCH64:
		list("x%d", 0, 30)
		s.word(regs["sp"], regs["pc"], 0)
	case elf.EM_ARM:
		list("r%d", 0, 12)
		s.word(regs["sp"], regs["lr"], regs["pc"], 0, 0)
	case elf.EM_S390:
		s.word(0, regs["pswa"])
		list("r%d", 0, 15)
	case elf.EM_RISCV:
		s.word(regs["pc"], regs["ra"], regs["sp"], regs["gp"], regs["tp"], regs["t0"], regs["t1"], regs["t2"], regs["s0"], regs["s1"])
		list("a%d", 0, 7)
		list("s%d", 2, 11)
		list("t%d", 3, 6)
	}
	return s.out
}
