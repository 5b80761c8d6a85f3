package main

import (
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strings"

	"symkit/test/mutant"
)

// crash is a crashed process and the symbol files of its modules, by their paths in a store.
type crash struct {
	mutant.Crash
	symbols map[string]string
}

var crashShapes = []shape{
	{"modules of a process", 20_000, modules},
	{"modules without symbols", 20_000, func(n int) input {
		in := modules(n)
		in.crash.symbols = map[string]string{"x/1/x.sym": ""}
		return in
	}},
	{"threads", 20_000, threads},
	{"frames of a thread", 250_000, frames},
	{"files of a store", 20_000, store},
	{"versions of a module in a store", 20_000, storeVersions},
	{"unloaded modules", 1_000_000, withRecords("unloaded modules")},
	{"parts of memory", 500_000, withRecords("memory")},
	{"information on memory", 500_000, withRecords("memory information")},
	{"unloaded modules at one place", 500_000, withRecords("unloaded modules at one place")},
	{"information on threads", 500_000, withRecords("information on threads")},
	{"segments of a core", 60_000, func(n int) input { return input{core: coreSegments(n)} }},
	{"handles", 500_000, withRecords("handles with names")},
	{"names of threads", 500_000, withRecords("names of threads")},
	{"mappings", 500_000, withRecords("maps")},
	{"threads of a core", 20_000, func(n int) input { return input{core: core(n, 1)} }},
	{"modules of a core", 50_000, func(n int) input { return input{core: core(1, n)} }},
}

// moduleName is the name of the one ELF file that most shapes are about.
const moduleName = "growth"

// codeAddr is where the first module of a process is.
const codeAddr = 0x10000000

// moduleOf returns a module and its symbol file's path in a store.
func moduleOf(name string, number uint64, base uint64, size uint32) (m mutant.Module, path string) {
	m = mutant.Module{Name: "/lib/" + name, Base: base, Size: size}
	copy(m.ID[:], buildID)
	for i := range 8 {
		m.ID[15-i] = byte(number >> (8 * i))
	}
	return m, filepath.Join(name, symbolID(m), name+".sym")
}

// symbolID returns the identifier in the MODULE record of a module's symbol file.
func symbolID(m mutant.Module) string { return strings.ToUpper(hex.EncodeToString(m.ID[:])) + "0" }

// symbolFile returns a small symbol file of a module.
func symbolFile(m mutant.Module, functions int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "MODULE Linux x86_64 %s %s\nFILE 0 /src/a.c\n", symbolID(m), filepath.Base(m.Name))
	for i := range functions {
		fmt.Fprintf(&b, "FUNC %x 10 0 function_%d\n%x 10 %d 0\n", 16*i, i, 16*i, i+1)
	}
	return b.String()
}

// modules returns a process of n modules with two frames each, in stacks of 64 of them.
func modules(n int) input {
	c := &crash{symbols: map[string]string{}}
	for i := range n {
		m, path := moduleOf(fmt.Sprintf("lib%d.so", i), uint64(i), codeAddr+0x1000*uint64(i), 0x1000)
		c.Modules = append(c.Modules, m)
		c.symbols[path] = symbolFile(m, 16)
		if i%64 == 0 {
			c.Threads = append(c.Threads, nil)
		}
		c.Threads[i/64] = append(c.Threads[i/64], m.Base+0x28, m.Base+0x38)
	}
	return input{crash: c}
}

// processOfFile returns a process of one module with functions, without threads.
func processOfFile(functions int) *crash {
	m, path := moduleOf("lib.so", 0, codeAddr, uint32(16*functions))
	c := &crash{symbols: map[string]string{path: symbolFile(m, functions)}}
	c.Modules = []mutant.Module{m}
	return c
}

// threads returns a process of n threads with eight frames each.
func threads(n int) input {
	c := processOfFile(256)
	for i := range n {
		var frames []uint64
		for j := range 8 {
			frames = append(frames, codeAddr+16*uint64((i+j)%256)+8)
		}
		c.Threads = append(c.Threads, frames)
	}
	return input{crash: c}
}

// frames returns a process with one stack of n frames.
func frames(n int) input {
	c := processOfFile(4096)
	c.Threads = [][]uint64{{codeAddr + 8, codeAddr + 24}}
	for i := range uint64(n) {
		c.Threads[0] = append(c.Threads[0], codeAddr+16*(i*7%4096)+8)
	}
	return input{crash: c}
}

// store returns a process of one module, and a store of n symbol files.
func store(n int) input {
	c := processOfFile(256)
	c.Threads = [][]uint64{{codeAddr + 8, codeAddr + 24}}
	for i := range n {
		m, path := moduleOf(fmt.Sprintf("lib%d.so", i), uint64(i+1), 0, 0x1000)
		c.symbols[path] = symbolFile(m, 16)
	}
	return input{crash: c}
}

// imageNumber is the number of the module that has buildID as its id.
const imageNumber = 0x1111111111111111

// processOf returns a process with frames at the places of a module of size bytes, in stacks of 512. The places are
// addresses of the file, which begins at base.
func processOf(places []uint64, base uint64, size int) *crash {
	if len(places) == 0 {
		return nil
	}
	m, _ := moduleOf(moduleName, imageNumber, codeAddr, uint32(size))
	c := &crash{}
	c.Modules = []mutant.Module{m}
	const deepest = 512
	frames := min(max(len(places), 8), 32_768)
	for i := range frames {
		if i%deepest == 0 {
			c.Threads = append(c.Threads, nil)
		}
		c.Threads[i/deepest] = append(c.Threads[i/deepest], codeAddr+places[i%len(places)]-base)
	}
	return c
}

// storeVersions returns a process of one module, and a store with n other versions of the module.
func storeVersions(n int) input {
	c := processOfFile(256)
	c.Threads = [][]uint64{{codeAddr + 8, codeAddr + 24}}
	for i := range n {
		m, path := moduleOf("lib.so", uint64(i+1), 0, 0x1000)
		c.symbols[path] = symbolFile(m, 16)
	}
	return input{crash: c}
}

// withRecords returns a process whose minidump has n records of a kind besides.
func withRecords(kind string) func(n int) input {
	return func(n int) input {
		c := processOfFile(256)
		c.Threads = [][]uint64{{codeAddr + 8, codeAddr + 24}}
		c.Records, c.Count = kind, n
		return input{crash: c}
	}
}

// core returns a core file of threads of eight frames each, in mapped files of a page each.
func core(threads, modules int) []byte {
	const stackAddr, stackSize, page = 0x7f0000000000, 128, 0x1000
	note := func(b []byte, kind uint32, desc []byte) []byte {
		b = le.AppendUint32(le.AppendUint32(le.AppendUint32(b, 5), uint32(len(desc))), kind)
		b = append(append(b, "CORE\x00\x00\x00\x00"...), desc...)
		return append(b, make([]byte, -len(b)&3)...)
	}
	place := func(i int) uint64 { return codeAddr + page*uint64(i%modules) + 8 }
	var notes, memory []byte
	for i := range threads {
		base := stackAddr + stackSize*uint64(i)
		status := make([]byte, 336) // struct elf_prstatus: rbp, rip and rsp are words 4, 16 and 19 of the registers at 112
		le.PutUint32(status[32:], uint32(i+1))
		for word, v := range map[int]uint64{4: base, 16: place(8 * i), 19: base} {
			le.PutUint64(status[112+8*word:], v)
		}
		notes = note(notes, 1, status)
		for j := range uint64(7) {
			memory = le.AppendUint64(le.AppendUint64(memory, base+16*(j+1)), place(8*i+int(j)+1))
		}
		memory = append(memory, make([]byte, 16)...)
	}
	files := le.AppendUint64(le.AppendUint64(nil, uint64(modules)), page)
	for i := range uint64(modules) {
		files = le.AppendUint64(le.AppendUint64(le.AppendUint64(files, codeAddr+page*i), codeAddr+page*(i+1)), 0)
	}
	for i := range modules {
		files = fmt.Appendf(files, "/lib/lib%d.so\x00", i)
	}
	notes = note(notes, 0x46494c45, files)

	const headers = 2
	b := make([]byte, 64+56*headers)
	copy(b, "\x7fELF\x02\x01\x01")
	for at, v := range map[int]uint16{16: 4, 18: 62, 20: 1, 52: 64, 54: 56, 56: headers} { // ET_CORE, EM_X86_64
		le.PutUint16(b[at:], v)
	}
	le.PutUint64(b[32:], 64)
	for i, v := range [][4]uint64{{4, uint64(len(b)), 0, uint64(len(notes))}, {1, uint64(len(b) + len(notes)), stackAddr, uint64(len(memory))}} {
		h := b[64+56*i:]
		le.PutUint32(h, uint32(v[0])) // PT_NOTE, PT_LOAD
		le.PutUint32(h[4:], 6)
		for j, x := range []uint64{v[1], v[2], v[2], v[3], v[3], 1} {
			le.PutUint64(h[8+8*j:], x)
		}
	}
	return append(append(b, notes...), memory...)
}

// coreSegments returns a core file of a thread whose memory is in n segments.
func coreSegments(n int) []byte {
	b := core(1, 8)
	const headerSize = 56
	out := make([]byte, 64+headerSize*(2+n))
	copy(out, b[:64])
	le.PutUint16(out[56:], uint16(2+n))
	for i := range 2 + n {
		h := out[64+headerSize*i:]
		copy(h[:headerSize], b[64+headerSize*min(i, 1):]) // others as the one of the stack
		le.PutUint64(h[8:], le.Uint64(h[8:])+uint64(headerSize*n))
		if i >= 2 {
			le.PutUint64(h[16:], codeAddr+0x10000000+0x2000*uint64(i))
			le.PutUint64(h[32:], 16)
			le.PutUint64(h[40:], 0x1000)
		}
	}
	return append(out, b[64+headerSize*2:]...)
}
