package corefile

import (
	"bytes"
	"debug/elf"
	"sort"

	"symkit/cfi"
	"symkit/elfx"
	"symkit/internal/wire"
	"symkit/walk"
)

// Bytes that are kept around an address. Below the stack pointer are the red zone of leaf
// functions (psABIs: up to 512 bytes) and registers that the callee is about to save.
const (
	belowSP      = 1024
	leastStack   = 64 << 10  // above each stack pointer
	mostStack    = 8 << 20   // above each stack pointer
	aroundPC     = 16 << 10  // in both directions
	belowPointer = 4 << 10   // below an address in a register or a word of a stack
	overPointer  = 64 << 10  // above it
	firstPages   = 16 << 10  // of a module: its headers and notes
	firstTables  = 256 << 10 // of a module: its names
	moduleData   = 1 << 20   // of a module's data, where the link map alone lists the modules
	vdsoSize     = 1 << 20
	maxGuard     = 1 << 20 // below a stack
	maxPointed   = 1 << 12 // windows because of words on stacks
)

// maxWindows bounds the pages that are marked as needed and as likely.
var maxWindows = [...]int{needed: 1 << 20, likely: 1 << 18}

// window marks the pages of a range that are in the memory of the core.
func (r *stream) window(lo, hi uint64, c class) {
	for page := lo >> pageBits; page <= (hi-1)>>pageBits && hi > lo; page++ {
		have, ok := r.windows[page]
		switch {
		case !ok && len(r.windows) >= maxWindows[c]:
			return
		case !ok || c < have:
			r.windows[page] = c
		}
	}
}

// segment returns the index of the segment that addr is in, or -1.
func (r *stream) segment(addr uint64) int {
	n := sort.Search(len(r.byAddr), func(n int) bool { return r.segs[r.byAddr[n]].Vaddr > addr })
	if n == 0 {
		return -1
	}
	i := r.byAddr[n-1]
	s := &r.segs[i]
	if addr-s.Vaddr >= s.Memsz {
		return -1
	}
	return i
}

// around marks the pages from below to above an address, as far as its segment goes.
func (r *stream) around(addr, below, above uint64, c class) {
	i := r.segment(addr)
	if i < 0 {
		return
	}
	s := &r.segs[i]
	r.window(max(s.Vaddr, addr-min(below, addr)), min(s.Vaddr+s.Memsz, addr+above), c)
}

// stackAt returns the lowest address at or above a stack pointer that is in memory. The stack
// pointer of a stack that overflowed is in the guard below the stack.
func (r *stream) stackAt(sp uint64) uint64 {
	n := sort.Search(len(r.byAddr), func(n int) bool { s := &r.segs[r.byAddr[n]]; return s.Vaddr+s.Memsz > sp })
	for n < len(r.byAddr) && r.segs[r.byAddr[n]].Vaddr+r.segs[r.byAddr[n]].Filesz <= sp {
		n++
	}
	if n == len(r.byAddr) {
		return sp
	}
	lo := r.segs[r.byAddr[n]].Vaddr
	if lo <= sp || lo-sp > maxGuard {
		return sp
	}
	return lo
}

// plan decides from the notes which memory is needed and which is likely to be needed.
func (r *stream) plan() {
	c := r.core
	arch := cfi.ArchByName(c.layout.cpu)
	share := uint64(r.kept.most) << pageBits / 2 / uint64(len(c.Process.Threads))
	share = min(max(share, leastStack), mostStack)
	for i := range c.Process.Threads {
		regs := &c.Process.Threads[i].Regs
		sp, _ := regs.Get(arch.SP)
		sp = r.stackAt(sp)
		r.around(sp, belowSP, share, needed)
		r.better(sp, likely)
		r.around(regs.PC, aroundPC, aroundPC, needed)
		r.registers(regs)
	}

	// The main thread's stack has the kernel's data; a thread's control block is on the
	// thread's stack. Handlers may have left either.
	for _, addr := range append(c.threadPointers, c.aux[atExecFn], c.aux[atRandom]) {
		r.better(addr, likely)
	}
	r.around(c.aux[atExecFn], 0, pageSize, needed)
	r.around(c.aux[atSysinfoEHDR], 0, vdsoSize, needed)

	// Code that no file has.
	for i := range r.segs {
		s := &r.segs[i]
		if s.Type == elf.PT_LOAD && s.Flags&elf.PF_X != 0 && c.fileAt(s.Vaddr) == nil {
			r.better(s.Vaddr, likely)
		}
	}
}

// better sets the class of the whole segment that addr is in, if c is more important than
// the segment's class.
func (r *stream) better(addr uint64, c class) {
	i := r.segment(addr)
	if i < 0 {
		return
	}
	have, ok := r.whole[i]
	if !ok || c < have {
		r.whole[i] = c
	}
}

// registers marks the memory that the registers point to.
func (r *stream) registers(regs *walk.Registers) {
	for reg := range cfi.Reg(64) {
		v, ok := regs.Get(reg)
		if ok {
			r.around(v, belowPointer, overPointer, likely)
		}
	}
}

// pointers marks the pages that the words of a needed page point to and that have not
// arrived yet.
func (r *stream) pointers(addr uint64, data []byte) {
	word := r.core.layout.word
	cur := wire.New("", data, r.core.file.BigEndian)
	cur.Skip(-addr & uint64(word-1))
	for cur.Len() >= word && r.pointed < maxPointed {
		v := cur.Uint(word)
		if v <= addr || r.windows[v>>pageBits] == likely {
			continue
		}
		if i := r.segment(v); i >= 0 && r.segs[i].Flags&elf.PF_W != 0 {
			_, have := r.windows[v>>pageBits]
			if !have {
				r.around(v, belowPointer, overPointer, likely)
				r.pointed++
			}
		}
	}
}

// begins reads the beginning of a segment. If a file is loaded there, its headers have the
// places at which its dynamic section and its notes will arrive.
func (r *stream) begins(s *elfx.Segment, data []byte) {
	if !bytes.HasPrefix(data, []byte(elf.ELFMAG)) {
		return
	}
	r.window(s.Vaddr, s.Vaddr+min(s.Memsz, firstPages), needed)
	r.around(s.Vaddr, 0, firstTables, likely)
	h := r.core.readHeader(data)
	if h == nil {
		return
	}
	m, ok := placed(h, s.Vaddr, "")
	if !ok {
		return
	}

	// Without NT_FILE the modules are in a list in the dynamic linker's data.
	for _, p := range h.Segments {
		at := m.Bias + p.Vaddr
		switch {
		case p.Type == elf.PT_DYNAMIC || p.Type == elf.PT_NOTE:
			r.around(at, 0, min(p.Memsz, firstTables), needed)
		case p.Type == elf.PT_LOAD && p.Flags&elf.PF_W != 0 && len(r.core.mapped) == 0:
			r.around(at, 0, min(p.Memsz, moduleData), likely)
		}
	}
}
