package mutant

import (
	"slices"
	"unicode/utf16"
)

// Crash is a crashed Linux process of x86_64, of which Minidump makes a file.
type Crash struct {
	Modules []Module
	Threads [][]uint64 // of each thread the address where it is, then the return addresses of its callers

	Records string // the kind of other records, by its name in dumpRecords; empty: none
	Count   int    // of these records
}

// Module is an ELF file in a process.
type Module struct {
	Name string
	ID   [16]byte // as a debug identifier with an age of 0
	Base uint64
	Size uint32
}

// Minidump returns a minidump. The frames of a stack have 16 bytes each, and are linked by rbp.
func (c *Crash) Minidump() []byte {
	// Names, CodeView records, registers and stacks follow the streams.
	var more []byte
	var others []stream
	for _, k := range dumpRecords {
		if k.name == c.Records {
			more = slices.Concat(context(), stack()[:smallStack], dumpStrings)
			others = append(others, k.make(c.Count*k.size))
		}
	}
	names, records_, regs, stacks := make([]int, len(c.Modules)), make([]int, len(c.Modules)), make([]int, len(c.Threads)), make([]int, len(c.Threads))
	for i, m := range c.Modules {
		names[i] = len(more)
		text := utf16.Encode([]rune(m.Name))
		more = le.AppendUint32(more, uint32(2*len(text)))
		for _, unit := range append(text, 0) {
			more = le.AppendUint16(more, unit)
		}
		records_[i] = len(more)
		more = append(append(more, "RSDS"...), m.ID[:]...)
		more = append(append(le.AppendUint32(more, 0), m.Name...), 0)
	}
	base := uint64(stackAddr)
	for i, frames := range c.Threads {
		regs[i] = len(more)
		r := context()
		le.PutUint64(r[0x98:], base)
		le.PutUint64(r[0xa0:], base)
		le.PutUint64(r[0xf8:], frames[0])
		more = append(more, r...)
		stacks[i] = len(more)
		for j, caller := range frames[1:] {
			more = append(more, body(base+16*uint64(j+1), caller)...)
		}
		more = append(more, body(0, 0)...)
		base += stackSize
	}

	modules := records(moduleList, len(c.Modules), func(b []byte, i int, at uint32) []byte {
		m := Module{}
		name, record := 0, 0
		if len(c.Modules) > 0 {
			m, name, record = c.Modules[i], names[i], records_[i]
		}
		b = le.AppendUint64(b, m.Base)
		for _, v := range []uint32{m.Size, 0, 0, at + uint32(name)} {
			b = le.AppendUint32(b, v)
		}
		b = append(b, make([]byte, 76-24)...)
		b = le.AppendUint32(le.AppendUint32(b, uint32(25+len(m.Name))), at+uint32(record))
		return append(b, make([]byte, 108-84)...)
	})
	threads := records(threadList, len(c.Threads), func(b []byte, i int, at uint32) []byte {
		b = append(le.AppendUint32(b, uint32(i+1)), make([]byte, 20)...)
		b = le.AppendUint64(b, stackAddr+stackSize*uint64(i))
		for _, v := range []uint32{uint32(16 * len(c.Threads[i])), at + uint32(stacks[i]), 1232, at + uint32(regs[i])} {
			b = le.AppendUint32(b, v)
		}
		return b
	})
	return miniDump(more, append(others, threads, modules)...)
}
