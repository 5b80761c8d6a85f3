package mutant

import (
	"bytes"
	"encoding/binary"
	"strings"
)

// gsymBombs are GSYM files whose functions cover the code that the soak asks for.
var gsymBombs = []Bomb{
	{"GSYM: inlined calls a million deep", func() []byte { return gsymFile(16, gsymCalls(1_000_000), "f") }},
	{"GSYM: a thousand inlined calls of one long name", func() []byte {
		return gsymFile(16, gsymCalls(1000), strings.Repeat("f<", 30_000))
	}},
	{"GSYM: a hundred thousand inlined calls of one name of megabytes", func() []byte {
		return gsymFile(16, gsymCalls(100_000), strings.Repeat("f<", 4<<20))
	}},
	{"GSYM: names without an end", func() []byte {
		b := gsymFile(16, gsymCalls(100_000), strings.Repeat("f", 8<<20))
		at := bytes.Index(b, []byte("f\x00d\x00"))
		copy(b[at:], "ffff")
		binary.LittleEndian.PutUint32(b[24:], uint32(at+4-gsymTexts)) // the table ends before the last NUL
		return b
	}},
	{"GSYM: a million inlined calls beside each other", func() []byte {
		return gsymFile(16, gsymPart(2, append(append(gsymCall(nil, true, 0, 1<<20), bytes.Repeat(gsymCall(nil, false, 1<<20, 1), 1_000_000)...), 0)), "f")
	}},
	{"GSYM: an inlined call of a million ranges", func() []byte {
		call := binary.AppendUvarint(nil, 1_000_000)
		call = append(call, bytes.Repeat([]byte{0, 1}, 1_000_000)...)
		return gsymFile(16, gsymPart(2, append(call, 0, 1, 0, 0, 0, 1, 1)), "f")
	}},
	{"GSYM: lines of one address", func() []byte {
		return gsymFile(16, gsymPart(1, append(append([]byte{0, 10, 1}, bytes.Repeat([]byte{2, 0}, 4<<20)...), 0)), "f")
	}},
	{"GSYM: a function of a million parts", func() []byte {
		return gsymFile(16, append([]byte{0, 16, 0, 0, 1, 0, 0, 0}, append(bytes.Repeat([]byte{9, 0, 0, 0, 0, 0, 0, 0}, 1_000_000), make([]byte, 8)...)...), "f")
	}},
	{"GSYM: a million functions of one address", func() []byte {
		b := gsymFile(1_000_000, gsymPart(9, nil), "f")
		clear(b[gsymHead : gsymHead+4*1_000_000])
		binary.LittleEndian.PutUint32(b[len(b)-24:], 1) // all are too short
		return b
	}},
	{"GSYM: a million functions that share one info", func() []byte { return gsymFile(1_000_000, gsymCalls(1000), "f") }},
	{"GSYM: a million files", func() []byte {
		b := gsymFile(0, nil, "f")
		binary.LittleEndian.PutUint32(b[gsymHead:], 1_000_000)
		return append(b, make([]byte, 8_000_000)...)
	}},
}

// gsymHead is the size of the header, and gsymTexts the offset of the strings of a file of 16 functions.
const (
	gsymHead  = 48
	gsymTexts = gsymHead + 16*4 + 16*4 + 4 + 16
)

// gsymFile returns a file with functions of 4 KiB from address 0 on, which share one info. Its strings are "", name,
// and "d".
func gsymFile(functions int, info []byte, name string) []byte {
	texts := "\x00" + name + "\x00d\x00"
	strings := gsymHead + 8*functions + 4 + 16
	order := binary.LittleEndian
	b := append([]byte("MYSG"), 1, 0, 4, 0)
	b = order.AppendUint64(b, 0)
	for _, n := range []int{functions, strings, len(texts)} {
		b = order.AppendUint32(b, uint32(n))
	}
	b = append(b, make([]byte, gsymHead-len(b))...)
	for i := range functions {
		b = order.AppendUint32(b, uint32(i)<<12)
	}
	for range functions {
		b = order.AppendUint32(b, uint32(strings+len(texts)))
	}
	b = order.AppendUint32(b, 2) // files: none, and d/name
	for _, text := range []uint32{0, 0, uint32(len(name)) + 2, 1} {
		b = order.AppendUint32(b, text)
	}
	return append(append(b, texts...), info...)
}

// gsymPart returns an info with one part of a kind: 1 is lines, 2 inlined calls.
func gsymPart(kind uint32, part []byte) []byte {
	order := binary.LittleEndian
	b := order.AppendUint32(nil, 1<<12)
	b = order.AppendUint32(b, 1)
	b = order.AppendUint32(b, kind)
	b = order.AppendUint32(b, uint32(len(part)))
	return append(append(b, part...), make([]byte, 8)...)
}

// gsymCalls returns an info with inlined calls in each other.
func gsymCalls(depth int) []byte {
	var b []byte
	for range depth {
		b = gsymCall(b, true, 0, 1<<12)
	}
	return gsymPart(2, append(b, make([]byte, depth)...))
}

// gsymCall appends an inlined call with one range.
func gsymCall(b []byte, children bool, from, size uint64) []byte {
	b = append(b, 1)
	b = binary.AppendUvarint(b, from)
	b = binary.AppendUvarint(b, size)
	has := byte(0)
	if children {
		has = 1
	}
	return append(b, has, 1, 0, 0, 0, 1, 1) // name, file, line
}
