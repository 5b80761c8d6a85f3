package mutant

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// WalkBomb is a minidump and the symbol file of its module. The frames of the dump, of which
// there can be half a million, meet what is long in the symbols.
type WalkBomb struct {
	Name string
	Make func() (dump, symbols []byte)
}

// Walks are the bombs for walkers of stacks.
var Walks = []WalkBomb{
	{"threads that share a stack, a rule of twenty thousand terms", func() (dump, symbols []byte) {
		return walkDump(8000, 16), walkSymbols("STACK CFI INIT 0 1000000 .cfa: $rsp" + strings.Repeat(" 1 + 1 -", 10_000) + " 16 + .ra: .cfa 8 - ^")
	}},
	{"threads that share a stack, a rule of a thousand terms in each register", func() (dump, symbols []byte) {
		var b strings.Builder
		b.WriteString("STACK CFI INIT 0 1000000 .cfa: $rsp 16 + .ra: .cfa 8 - ^")
		for r := range strings.FieldsSeq("rax rbx rcx rdx rsi rdi rbp r8 r9 r10 r11 r12 r13 r14 r15") {
			b.WriteString(" $" + r + ": $rsp" + strings.Repeat(" $rsp +", 500))
		}
		return walkDump(8000, 16), walkSymbols(b.String())
	}},
	{"a stack of a quarter of a million callers, a rule of a thousand terms", func() (dump, symbols []byte) {
		return walkDump(1, walkFrames), walkSymbols("STACK CFI INIT 0 1000000 .cfa: $rsp" + strings.Repeat(" $rax $rax -", 300) + " + 16 + .ra: .cfa 8 - ^")
	}},
	{"a stack of a quarter of a million callers, a row for each", func() (dump, symbols []byte) {
		var b strings.Builder
		b.WriteString("STACK CFI INIT 0 1000000 .cfa: $rsp 16 + .ra: .cfa 8 - ^\n")
		for i := range 100_000 {
			fmt.Fprintf(&b, "STACK CFI %x $r%d: %d\n", 16*i, i%1000, i)
		}
		return walkDump(1, walkFrames), walkSymbols(b.String())
	}},
	{"a stack of a quarter of a million callers, inlined calls a thousand deep with long names", func() (dump, symbols []byte) {
		var b strings.Builder
		for i := range 1000 {
			fmt.Fprintf(&b, "INLINE_ORIGIN %d %d%s\n", i, i, strings.Repeat("n", 2000))
		}
		b.WriteString("FUNC 0 1000000 0 f\n")
		for i := range 1000 {
			fmt.Fprintf(&b, "INLINE %d 1 0 %d 0 1000000\n", i, i)
		}
		return walkDump(1, walkFrames), walkSymbols(b.String())
	}},
	{"a stack of a quarter of a million callers in a function of many lines", func() (dump, symbols []byte) {
		var b strings.Builder
		b.WriteString("FUNC 0 1000000 0 f\n")
		for i := range 200_000 {
			fmt.Fprintf(&b, "%x 50 %d 0\n", 80*i, i)
		}
		return walkDump(1, walkFrames), walkSymbols(b.String())
	}},
	{"a stack of a quarter of a million callers, functions with names of a megabyte", func() (dump, symbols []byte) {
		var b strings.Builder
		for i := range 16 {
			fmt.Fprintf(&b, "FUNC %x 1000000 0 %s\n", i, strings.Repeat("n", 1<<20))
		}
		return walkDump(1, walkFrames), walkSymbols(b.String())
	}},
	{"threads that share a stack, a Windows program of many terms and variables", func() (dump, symbols []byte) {
		var b strings.Builder
		b.WriteString("STACK WIN 4 0 1000000 0 0 0 0 0 0 1")
		for i := range 100 {
			fmt.Fprintf(&b, " $v%d $esp =", i)
		}
		b.WriteString(" $T0 $esp")
		for i := range 300 {
			fmt.Fprintf(&b, " $v%d -", i%100)
		}
		b.WriteString(" = $eip .raSearch ^ = $esp .raSearch 4 + =")
		return walkDump86(8000, 16), walkSymbols(b.String())
	}},
	{"a Windows stack of a quarter of a million callers, functions of many lines", func() (dump, symbols []byte) {
		var b strings.Builder
		b.WriteString("FUNC 0 1000000 0 f\n")
		for i := range 100_000 {
			fmt.Fprintf(&b, "%x 50 %d 0\n", 80*i, i)
		}
		b.WriteString("STACK WIN 4 0 1000000 0 0 0 0 0 0 1 $eip .raSearch ^ = $esp .raSearch 4 + =")
		return walkDump86(1, walkFrames), walkSymbols(b.String())
	}},
}

// walkFrames is as many frames as a thread may have.
const walkFrames = 1 << 18

// walkSymbols returns the symbol file of the module of walkDump.
func walkSymbols(records string) []byte {
	return []byte("MODULE Linux x86_64 " + strings.Repeat("11", 16) + "1 a\nFILE 0 f.c\n" + records + "\n")
}

// walkModule is the module of all code; its name and CodeView record are at an offset in more.
func walkModule(name uint32) stream {
	return records(moduleList, 1, func(b []byte, _ int, more uint32) []byte {
		b = le.AppendUint64(b, codeAddr)
		for _, v := range []uint32{16 << 20, 0, 0, more + name} {
			b = le.AppendUint32(b, v)
		}
		b = append(b, make([]byte, 76-24)...)
		b = le.AppendUint32(le.AppendUint32(b, uint32(len(walkNames)-8)), more+name+8)
		return append(b, make([]byte, 108-84)...)
	})
}

// walkNames are the name of the module, "a", padded, and its CodeView record.
var walkNames = slices.Concat([]byte{2, 0, 0, 0, 'a', 0, 0, 0}, []byte("RSDS"), bytes.Repeat([]byte{0x11}, 16), []byte{1, 0, 0, 0, 'a', 0})

// walkDump returns a minidump of threads that share one stack, in which each return address is
// another one.
func walkDump(threads, frames int) []byte {
	var stack []byte
	for i := range uint64(frames) {
		stack = append(stack, body(stackAddr+16*(i+2), codeAddr+0x100+16*i)...)
	}
	regs := context()
	le.PutUint64(regs[0x98:], stackAddr)
	more := slices.Concat(regs, stack, walkNames)
	list := records(threadList, threads, func(b []byte, i int, more uint32) []byte {
		b = append(le.AppendUint32(b, uint32(i)), make([]byte, 20)...)
		b = le.AppendUint64(b, stackAddr)
		for _, v := range []uint32{uint32(len(stack)), more + 1232, 1232, more} {
			b = le.AppendUint32(b, v)
		}
		return b
	})
	return miniDump(more, list, walkModule(uint32(1232+len(stack))))
}

// walkDump86 is walkDump for Windows on 32-bit x86.
func walkDump86(threads, frames int) []byte {
	const base, regsSize = 0x1000_0000, 716
	var stack []byte
	for i := range uint32(frames) {
		stack = le.AppendUint32(stack, codeAddr+0x100+16*i)
	}
	regs := make([]byte, regsSize)
	le.PutUint32(regs, 0x1007f)
	le.PutUint32(regs[180:], base)           // ebp
	le.PutUint32(regs[184:], codeAddr+0x100) // eip
	le.PutUint32(regs[196:], base)           // esp
	more := slices.Concat(regs, stack, walkNames)
	list := records(threadList, threads, func(b []byte, i int, more uint32) []byte {
		b = append(le.AppendUint32(b, uint32(i)), make([]byte, 20)...)
		b = le.AppendUint64(b, base)
		for _, v := range []uint32{uint32(len(stack)), more + regsSize, regsSize, more} {
			b = le.AppendUint32(b, v)
		}
		return b
	})
	b := miniDump(more, list, walkModule(uint32(regsSize+len(stack))))

	// The system information is the last stream: of x86 and Windows.
	at := le.Uint32(b[32+12*2+8:])
	le.PutUint16(b[at:], 0)
	le.PutUint32(b[at+20:], 2)
	return b
}
