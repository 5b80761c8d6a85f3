// Command gofixture makes a small fixture of a stripped Go program. It overwrites the
// bytes that symkit does not read with zeros, so that the file compresses well. The rest
// stays as the linker wrote it: the headers, the module data, the function table with
// the names and addresses of all functions, and the line tables and inline trees of
// package main and of every sixteenth other function. The records of the remaining
// functions lose their tables, like those of the symbols that the linker itself adds.
//
//	gofixture PROGRAM >FIXTURE
package main

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"slices"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: gofixture PROGRAM >FIXTURE")
		os.Exit(80)
	}
	out, err := reduce(os.Args[1])
	if err == nil {
		_, err = os.Stdout.Write(out)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gofixture:", err)
		os.Exit(1)
	}
}

// reduce returns the reduced content of the program at path.
func reduce(path string) ([]byte, error) {
	file, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}

	e, err := elf.NewFile(bytes.NewReader(file))
	if err != nil {
		return nil, err
	}

	// Code and types are never read; function tables are reduced.
	for _, s := range e.Sections {
		data := file[min(s.Offset, uint64(len(file))):]
		switch s.Name {
		case ".text", ".go.type", ".typelink", ".itablink":
			clear(data[:s.Size])
		case ".gopclntab":
			t := table{data: data[:s.Size], order: e.ByteOrder}
			t.reduce()
		}
	}
	return file, nil
}

// table is a function table (runtime/symtab.go), with the layouts of Go 1.16
// and later.
type table struct {
	data                                 []byte
	order                                binary.ByteOrder
	word                                 int
	version                              int
	names, cus, files, pcs, funcs, nfunc int
}

func (t *table) u32(at int) int { return int(t.order.Uint32(t.data[at:])) }

// offset reads a word, whose upper half is 0 in a 64-bit file.
func (t *table) offset(at int) int {
	if t.word == 8 {
		return int(t.order.Uint64(t.data[at:]))
	}
	return t.u32(at)
}

// reduce clears the pc-value tables that no function uses any more.
func (t *table) reduce() {
	t.version = map[uint32]int{0xfffffffa: 116, 0xfffffff0: 118, 0xfffffff1: 120}[t.order.Uint32(t.data)]
	t.word = int(t.data[7])

	// The header is magic, quantum, word size, and then words.
	at := 8
	next := func() int {
		at += t.word
		return t.offset(at - t.word)
	}

	t.nfunc = next()
	next() // the number of files
	if t.version >= 118 {
		next() // the start of the text, since Go 1.18
	}
	t.names, t.cus, t.files, t.pcs, t.funcs = next(), next(), next(), next(), next()

	used := make([]bool, t.funcs-t.pcs) // bytes of the pc-value tables
	used[0] = true
	for i := range t.nfunc {
		t.function(i, used)
	}

	for i, used := range used {
		if !used {
			t.data[t.pcs+i] = 0
		}
	}
}

// function marks the pc-value tables of function i as used, or removes all tables from
// the function's record.
func (t *table) function(i int, used []bool) {
	size := 4
	if t.version == 116 {
		size = t.word
	}

	// The record: entry, name, args, deferreturn, pcsp, pcfile, pcln, npcdata, …
	record := t.funcs + t.offset32(t.funcs+(2*i+1)*size, size)
	const name, pcsp, npcdata = 0, 12, 24 // offsets after the entry
	fields := record + size
	end := fields + 32 + 4 // after the unit and four small fields
	if t.version >= 120 {
		end += 4
	}

	text := t.data[t.names+t.u32(fields+name):]
	keep := bytes.HasPrefix(text, []byte("main.")) || i%16 == 0
	pcdatas := t.u32(fields + npcdata)

	// Remove all tables from the record.
	if !keep {
		clear(t.data[fields+pcsp : fields+npcdata+4])
		clear(t.data[end : end+4*pcdatas])
		t.data[end-1] = 0
		return
	}

	// The tables of pc, file and line, and of the inline tree.
	tables := []int{t.u32(fields + pcsp), t.u32(fields + pcsp + 4), t.u32(fields + pcsp + 8)}
	for k := range pcdatas {
		if k == 2 { // PCDATA_InlTreeIndex
			tables = append(tables, t.u32(end+4*k))
		} else {
			clear(t.data[end+4*k:][:4])
		}
	}

	for _, off := range slices.Compact(tables) {
		if off != 0 {
			t.mark(off, used)
		}
	}
}

func (t *table) offset32(at, size int) int {
	if size == 8 {
		return t.offset(at)
	}
	return t.u32(at)
}

// mark marks the bytes of one pc-value table: pairs of varints, a step of the value and
// a step of the pc, up to a value step of 0.
func (t *table) mark(off int, used []bool) {
	for first := true; ; first = false {
		for range 2 {
			end := t.data[t.pcs+off] == 0 && !first
			for more := true; more; off++ {
				used[off] = true
				more = t.data[t.pcs+off]&0x80 != 0
			}
			if end {
				return
			}
			first = true // the second step of a pair may be 0
		}
	}
}
