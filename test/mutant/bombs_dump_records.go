package mutant

import (
	"bytes"
	"slices"
	"strings"
)

// dumpRecordBombs has, for each kind of record of a core file or minidump, a file with as many of the
// smallest legal record as fit into some megabytes.
func dumpRecordBombs() (bombs []Bomb) {
	for _, k := range dumpRecords {
		bombs = append(bombs, Bomb{"minidump of the smallest records: " + k.name, func() []byte {
			more := slices.Concat(context(), stack()[:smallStack], dumpStrings)
			streams := []stream{smallThreads(1), k.make(dumpBytes)}
			if k.kind != moduleList {
				streams = append(streams, modules(1, 1232+smallStack))
			}
			return miniDump(more, streams...)
		}})
	}
	bombs = append(bombs, Bomb{"a minidump of a stack of callers in modules of their own", callersOfModules})
	return append(bombs, coreRecords...)
}

// callersOfModules returns a minidump of a stack whose callers are each in a module of its own. All
// modules have one id and one name.
func callersOfModules() []byte {
	const count = 1 << 15
	var stack []byte
	for i := range uint64(count) {
		stack = append(stack, body(stackAddr+16*(i+2), codeAddr+0x1000*i+0x100)...)
	}
	regs := context()
	le.PutUint64(regs[0x98:], stackAddr)
	name := uint32(len(regs) + len(stack))
	list := records(threadList, 1, func(b []byte, i int, more uint32) []byte {
		b = append(le.AppendUint32(b, uint32(i)), make([]byte, 20)...)
		b = le.AppendUint64(b, stackAddr)
		for _, v := range []uint32{uint32(len(stack)), more + 1232, 1232, more} {
			b = le.AppendUint32(b, v)
		}
		return b
	})
	all := records(moduleList, count, func(b []byte, i int, more uint32) []byte {
		b = le.AppendUint64(b, codeAddr+0x1000*uint64(i))
		for _, v := range []uint32{0x1000, 0, 0, more + name} {
			b = le.AppendUint32(b, v)
		}
		b = append(b, make([]byte, 76-24)...)
		b = le.AppendUint32(le.AppendUint32(b, uint32(len(walkNames)-8)), more+name+8)
		return append(b, make([]byte, 108-84)...)
	})
	return miniDump(slices.Concat(regs, stack, walkNames), list, all)
}

// dumpBytes is the size of all records of a bomb, smallStack that of its stack.
const dumpBytes, smallStack = 4 << 20, 1 << 16

// dumpStrings are an empty MINIDUMP_STRING, then one of a letter, an empty MINIDUMP_UTF8_STRING, and a
// list of such strings; emptyText and the others are their offsets from the context.
var dumpStrings = []byte{0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 'a', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}

const (
	emptyText  = 1232 + smallStack
	letterText = emptyText + 8
	emptyUTF8  = emptyText + 16
)

// smallThreads is threads with a stack of smallStack bytes.
func smallThreads(count int) stream {
	return records(threadList, count, func(b []byte, i int, more uint32) []byte {
		b = append(le.AppendUint32(b, uint32(i)), make([]byte, 20)...)
		b = le.AppendUint64(b, stackAddr)
		for _, v := range []uint32{smallStack, more + 1232, 1232, more} {
			b = le.AppendUint32(b, v)
		}
		return b
	})
}

// dumpRecord is a kind of records of a minidump, in a stream of one kind.
type dumpRecord struct {
	name string
	kind uint32
	size int // of a record
	head func(count uint32) []byte
	one  func(b []byte, i int, more uint32) []byte
}

// make returns a stream of size bytes.
func (k *dumpRecord) make(size int) stream {
	count := size / k.size
	head := k.head
	if head == nil {
		head = func(count uint32) []byte { return le.AppendUint32(nil, count) }
	}
	return stream{k.kind, func(more uint32) []byte {
		b := head(uint32(count))
		for i := range count {
			b = k.one(b, i, more)
		}
		return b
	}, len(head(0)) + count*k.size}
}

// listHead returns the header of a list that has the sizes of header and record.
func listHead(size, record uint32) func(uint32) []byte {
	return func(count uint32) []byte {
		b := le.AppendUint32(le.AppendUint32(le.AppendUint32(nil, size), record), count)
		return append(b, make([]byte, size-12)...)
	}
}

// wideCount returns the header of a list with a count of 64 bits and one more word.
func wideCount(count uint32) []byte {
	return append(le.AppendUint64(nil, uint64(count)), make([]byte, 8)...)
}

// textRecord is a stream that is lines of text.
func textRecord(name string, kind uint32, line string) dumpRecord {
	return dumpRecord{name, kind, len(line), func(uint32) []byte { return nil },
		func(b []byte, _ int, _ uint32) []byte { return append(b, line...) }}
}

var dumpRecords = []dumpRecord{
	{"modules", moduleList, 108, nil, func(b []byte, i int, more uint32) []byte {
		b = le.AppendUint64(b, codeAddr+0x1000*uint64(i))
		for _, v := range []uint32{0x1000, 0, 0, more + letterText} {
			b = le.AppendUint32(b, v)
		}
		return append(b, make([]byte, 108-24)...)
	}},
	{"modules without names", moduleList, 108, nil, func(b []byte, i int, _ uint32) []byte {
		return append(le.AppendUint32(le.AppendUint64(b, codeAddr+uint64(i)), 1), make([]byte, 108-12)...)
	}},
	{"unloaded modules", 14, 24, listHead(12, 24), func(b []byte, i int, more uint32) []byte {
		b = le.AppendUint64(b, codeAddr+0x1000*uint64(i))
		return le.AppendUint32(append(le.AppendUint32(b, 0x1000), make([]byte, 8)...), more+letterText)
	}},
	{"unloaded modules at one place", 14, 24, listHead(12, 24), func(b []byte, _ int, more uint32) []byte {
		b = le.AppendUint64(b, codeAddr)
		return le.AppendUint32(append(le.AppendUint32(b, 0x1000), make([]byte, 8)...), more+letterText)
	}},
	{"memory", memoryList, 16, nil, func(b []byte, i int, more uint32) []byte {
		return le.AppendUint32(le.AppendUint32(le.AppendUint64(b, 0x10000+2*uint64(i)), 1), more)
	}},
	{"memory of 64 bits", 9, 16, wideCount, func(b []byte, i int, _ uint32) []byte {
		return le.AppendUint64(le.AppendUint64(b, 0x10000+2*uint64(i)), 1)
	}},
	{"memory information", 16, 48, func(count uint32) []byte {
		return le.AppendUint64(le.AppendUint32(le.AppendUint32(nil, 16), 48), uint64(count))
	}, func(b []byte, i int, _ uint32) []byte {
		b = append(le.AppendUint64(b, 0x1000*uint64(i)), make([]byte, 16)...)
		b = le.AppendUint32(le.AppendUint32(le.AppendUint64(b, 0x1000), 0x1000), 4)
		return le.AppendUint64(b, 0)
	}},
	{"handles", 12, 32, listHead(16, 32), func(b []byte, i int, _ uint32) []byte {
		return append(le.AppendUint64(b, uint64(i)), make([]byte, 24)...)
	}},
	{"handles with names", 12, 32, listHead(16, 32), func(b []byte, i int, more uint32) []byte {
		b = le.AppendUint32(le.AppendUint32(le.AppendUint64(b, uint64(i)), more+letterText), more+letterText)
		return append(b, make([]byte, 16)...)
	}},
	{"threads", threadList, 48, nil, func(b []byte, i int, more uint32) []byte {
		return append(le.AppendUint32(b, uint32(i)), make([]byte, 44)...)
	}},
	{"threads with registers", threadList, 48, nil, func(b []byte, i int, more uint32) []byte {
		b = append(le.AppendUint32(b, uint32(i)), make([]byte, 36)...)
		return le.AppendUint32(le.AppendUint32(b, 1232), more)
	}},
	{"names of threads", threadNames, 12, nil, func(b []byte, i int, more uint32) []byte {
		return le.AppendUint64(le.AppendUint32(b, uint32(i)), uint64(more+letterText))
	}},
	{"names of one thread", threadNames, 12, nil, func(b []byte, _ int, more uint32) []byte {
		return le.AppendUint64(le.AppendUint32(b, 0), uint64(more+letterText))
	}},
	{"information on threads", 17, 64, listHead(12, 64), func(b []byte, i int, _ uint32) []byte {
		return append(le.AppendUint32(b, uint32(i)), make([]byte, 60)...)
	}},
	textRecord("maps", 0x47670009, "0-1 r-xp 0 0:0 0 /a\n"),
	textRecord("maps without names", 0x47670009, "0-1 r 0 0:0 0\n"),
	textRecord("lines of cpuinfo", 0x47670003, "a:\n"),
	textRecord("lines of status", 0x47670004, "a:\n"),
	textRecord("lines of lsb-release", 0x47670005, "ID=\n"),
	textRecord("variables", 0x47670007, "\x00"),
	textRecord("auxiliary vector", 0x47670008, "\x01\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00"),
	textRecord("limits", 0x4d7a0003, "Max a  1  1  \n"),
	textRecord("soft errors", 0x4d7a0004, "[],"),
}

// coreRecords are cores of the smallest records.
var coreRecords = []Bomb{
	{"a core of the smallest notes", func() []byte {
		return coreFile(append(note(1, prstatus()), bytes.Repeat(make([]byte, 12), dumpBytes/12)...), 1, stack()[:smallStack])
	}},
	{"a core of the smallest threads", func() []byte { return coreFile(bytes.Repeat(note(1, prstatus()), dumpBytes/356), 1, nil) }},
	{"a core of the smallest mapped files", func() []byte {
		return coreFile(append(note(1, prstatus()), files(dumpBytes/26, codeAddr, 0x1000)...), 1, stack()[:smallStack])
	}},
	{"a core of mapped files of names of their own", func() []byte {
		const count = dumpBytes / 32
		desc := le.AppendUint64(le.AppendUint64(nil, count), 4096)
		var names strings.Builder
		for i := range uint64(count) {
			desc = le.AppendUint64(le.AppendUint64(le.AppendUint64(desc, codeAddr+0x1000*i), codeAddr+0x1000*(i+1)), 0)
			names.Write([]byte{'a' + byte(i&15), 'a' + byte(i>>4&15), 'a' + byte(i>>8&15), 'a' + byte(i>>12&15), 'a' + byte(i>>16&15), 0})
		}
		return coreFile(append(note(1, prstatus()), note(0x46494c45, append(desc, names.String()...))...), 1, stack()[:smallStack])
	}},
}
