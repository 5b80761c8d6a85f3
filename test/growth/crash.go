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
	{"threads", 20_000, threads},
	{"frames of a thread", 250_000, frames},
	{"files of a store", 20_000, store},
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
