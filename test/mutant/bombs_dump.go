package mutant

import (
	"bytes"
	"debug/elf"
	"slices"
)

// dumpBombs are cores and minidumps.
var dumpBombs = []Bomb{
	{"a core whose headers share notes", func() []byte { return coreFile(bytes.Repeat(note(7, nil), 1<<15), 60_000, nil) }},
	{"a core of a million damaged notes", func() []byte { return coreFile(bytes.Repeat(note(1, nil), 1<<17), 1, nil) }},
	{"a core of threads that share a stack", coreThreads},
	{"a core of files that share headers", coreFiles},
	{"a core of a hundred thousand segments", func() []byte { return coreFile(note(1, prstatus()), 1, bytes.Repeat([]byte{0}, 60_000)) }},
	{"a core that maps a hundred thousand files", coreManyFiles},
	{"minidump threads that share a stack", minidumpThreads},
	{"minidump modules that share a name", minidumpModules},
	{"minidump threads that share a name", minidumpThreadNames},
	{"minidump memory in a hundred thousand overlapping ranges", minidumpMemory},
	{"minidump streams that share a list of modules", minidumpStreams},
}

// note returns a note whose owner is CORE, as the kernel writes notes.
func note(kind uint32, desc []byte) []byte {
	// The owner's name has 5 bytes, and is padded to 8.
	b := le.AppendUint32(le.AppendUint32(le.AppendUint32(nil, 5), uint32(len(desc))), kind)
	return append(append(b, "CORE\x00\x00\x00\x00"...), desc...)
}

// Where the memory of cores and minidumps begins, and its size in bytes.
const (
	stackAddr = 0x7fff_0000_0000
	stackSize = 4 << 20
	codeAddr  = 0x400000
)

// prstatus returns struct elf_prstatus of x86_64: registers from offset 112; rip is the
// 17th, rsp the 20th, rbp the 5th.
func prstatus() []byte {
	b := make([]byte, 336)
	le.PutUint64(b[112+8*4:], stackAddr+16)
	le.PutUint64(b[112+8*16:], codeAddr+0x100)
	le.PutUint64(b[112+8*19:], stackAddr)
	return b
}

// coreFile returns an x86_64 core file. Each of its headers for notes names the same notes.
// The memory is one segment; but if it has 60000 bytes, each byte is a segment of its own.
func coreFile(notes []byte, headers int, memory []byte) []byte {
	segments := 1
	if len(memory) == 60_000 {
		segments = len(memory)
	}

	count := headers + segments
	// The notes come after the program headers, the memory after the notes.
	at := 64 + 56*count
	file := make([]byte, 64, at+len(notes)+len(memory))
	copy(file, "\x7fELF\x02\x01\x01")
	le.PutUint16(file[16:], uint16(elf.ET_CORE))
	le.PutUint16(file[18:], uint16(elf.EM_X86_64))
	le.PutUint32(file[20:], 1)
	le.PutUint64(file[32:], 64)
	le.PutUint16(file[52:], 64)
	le.PutUint16(file[54:], 56)
	le.PutUint16(file[56:], uint16(count))
	// header appends an Elf64_Phdr.
	header := func(kind elf.ProgType, offset, addr, size uint64) {
		file = le.AppendUint32(le.AppendUint32(file, uint32(kind)), 7)
		for _, v := range []uint64{offset, addr, addr, size, size, 1} {
			file = le.AppendUint64(file, v)
		}
	}

	for range headers {
		header(elf.PT_NOTE, uint64(at), 0, uint64(len(notes)))
	}
	for i := range segments {
		header(elf.PT_LOAD, uint64(at+len(notes)+i), stackAddr+uint64(i), uint64(len(memory)/segments))
	}
	return slices.Concat(file, notes, memory)
}

// stack returns memory in which every word is an address of the stack above it, or of code.
func stack() []byte {
	b := make([]byte, 0, stackSize)
	for at := uint64(stackAddr); len(b) < stackSize; at += 16 {
		b = append(b, body(at+16, codeAddr+0x100)...)
	}
	return b
}

func coreThreads() []byte {
	return coreFile(bytes.Repeat(note(1, prstatus()), 10_000), 1, stack())
}

// files returns an NT_FILE note of one file that is mapped count times, step bytes apart.
func files(count int, start, step uint64) []byte {
	desc := le.AppendUint64(le.AppendUint64(nil, uint64(count)), 4096)
	for i := range uint64(count) {
		desc = le.AppendUint64(le.AppendUint64(le.AppendUint64(desc, start+step*i), start+step*i+0x1000), 0)
	}
	desc = append(desc, bytes.Repeat([]byte("f\x00"), count)...)
	return note(0x46494c45, desc)
}

// coreFiles returns a file with files at one address. The ELF header there has all the
// segments that are possible.
func coreFiles() []byte {
	const segments = 60_000
	// The ELF header in memory has program headers only.
	memory := make([]byte, 64, 64+56*segments)
	copy(memory, build()[:64])
	le.PutUint16(memory[56:], segments)
	le.PutUint64(memory[40:], 0)
	le.PutUint16(memory[60:], 0)
	for range segments {
		memory = le.AppendUint32(le.AppendUint32(memory, uint32(elf.PT_LOAD)), 5)
		for _, v := range []uint64{0, 0, 0, 1, 1, 1} {
			memory = le.AppendUint64(memory, v)
		}
	}
	return coreFile(append(note(1, prstatus()), files(20_000, stackAddr, 0)...), 1, memory)
}

func coreManyFiles() []byte {
	return coreFile(append(note(1, prstatus()), files(100_000, stackAddr, 16)...), 1, stack()[:1<<20])
}

// Types of minidump streams.
const (
	threadList, moduleList, memoryList, systemInfo, threadNames = 3, 4, 5, 7, 24
)

// stream is one stream of a minidump. data is called with the file offset of the bytes
// after all streams, to which streams refer.
type stream struct {
	kind uint32
	data func(more uint32) []byte
	size int
}

// miniDump returns a minidump of an x86_64 Linux process. more is the bytes after all
// streams.
func miniDump(more []byte, streams ...stream) []byte {
	// Without system information a minidump is not read at all.
	streams = append(streams, stream{systemInfo, func(uint32) []byte {
		b := make([]byte, 56)
		le.PutUint16(b, 9)           // AMD64
		le.PutUint32(b[20:], 0x8201) // Linux
		return b
	}, 56})

	// The directory follows the header, at offset 32.
	b := append([]byte("MDMP"), 0x93, 0xa7, 0, 0)
	for _, v := range []uint32{uint32(len(streams)), 32, 0, 0, 0, 0} {
		b = le.AppendUint32(b, v)
	}

	// The streams follow the directory, one after the other.
	at := 32 + 12*len(streams)
	for _, s := range streams {
		b = le.AppendUint32(le.AppendUint32(le.AppendUint32(b, s.kind), uint32(s.size)), uint32(at))
		at += s.size
	}

	for _, s := range streams {
		b = append(b, s.data(uint32(at))...)
	}
	return append(b, more...)
}

// records returns a stream that is a list of count records.
func records(kind uint32, count int, one func(b []byte, i int, more uint32) []byte) stream {
	return stream{kind, func(more uint32) []byte {
		b := le.AppendUint32(nil, uint32(count))
		for i := range count {
			b = one(b, i, more)
		}
		return b
	}, 4 + count*len(one(nil, 0, 0))}
}

// context returns a CONTEXT_AMD64 with rip, rsp and rbp.
func context() []byte {
	b := make([]byte, 1232)
	le.PutUint32(b[0x30:], 0x10000b)
	le.PutUint64(b[0x98:], stackAddr)
	le.PutUint64(b[0xa0:], stackAddr+16)
	le.PutUint64(b[0xf8:], codeAddr+0x100)
	return b
}

// threads returns a list of threads. Each thread has the first bytes of more as its context,
// and the bytes after those as its stack.
func threads(count int) stream {
	return records(threadList, count, func(b []byte, i int, more uint32) []byte {
		b = append(le.AppendUint32(b, uint32(i)), make([]byte, 20)...)
		b = le.AppendUint64(b, stackAddr)
		for _, v := range []uint32{stackSize, more + 1232, 1232, more} {
			b = le.AppendUint32(b, v)
		}
		return b
	})
}

// modules returns a list of modules, each at the end of the one before. Their names are all
// at one offset in more.
func modules(count int, name uint32) stream {
	return records(moduleList, count, func(b []byte, i int, more uint32) []byte {
		b = le.AppendUint64(b, codeAddr+0x1000*uint64(i))
		for _, v := range []uint32{0x1000, 0, 0, more + name} {
			b = le.AppendUint32(b, v)
		}
		return append(b, make([]byte, 108-24)...)
	})
}

func minidumpThreads() []byte {
	more := slices.Concat(context(), stack(), longText())
	return miniDump(more, threads(20_000), modules(1, uint32(1232+stackSize)))
}

// longText returns a MINIDUMP_STRING of the largest size that names have.
func longText() []byte {
	return append(le.AppendUint32(nil, 1<<16), bytes.Repeat([]byte{0xac, 0x20}, 1<<15)...)
}

func minidumpModules() []byte {
	more := slices.Concat(context(), stack(), longText())
	return miniDump(more, threads(1), modules(50_000, uint32(1232+stackSize)))
}

func minidumpThreadNames() []byte {
	more := slices.Concat(context(), stack(), longText())
	names := records(threadNames, 20_000, func(b []byte, i int, more uint32) []byte {
		return le.AppendUint64(le.AppendUint32(b, uint32(i)), uint64(more+1232+stackSize))
	})
	return miniDump(more, threads(20_000), modules(1, uint32(1232+stackSize)), names)
}

func minidumpMemory() []byte {
	more := slices.Concat(context(), stack(), longText())
	memory := records(memoryList, 100_000, func(b []byte, i int, more uint32) []byte {
		return le.AppendUint32(le.AppendUint32(le.AppendUint64(b, stackAddr+uint64(i)), stackSize-uint32(i)), more+1232)
	})
	return miniDump(more, threads(1), modules(1, uint32(1232+stackSize)), memory)
}

func minidumpStreams() []byte {
	more := slices.Concat(context(), stack()[:1<<16], longText())
	list := modules(20_000, uint32(1232+1<<16))
	streams := []stream{threads(1), list}
	for range 2000 {
		streams = append(streams, stream{moduleList, func(uint32) []byte { return nil }, 0})
	}

	// The other lists are empty, so the file stays small.
	b := miniDump(more, streams...)
	for i := range 2000 { // their directory entries become the first list's
		copy(b[32+12*(2+i):], b[32+12:32+24])
	}
	return b
}
