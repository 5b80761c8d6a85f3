package mutant

import (
	"bytes"
	"fmt"
	"strings"
)

// symBombs are symbol files for testdata's crash-x86_64-gcc12-O2-dw5.elf. Their records
// cover the code of that program, so that walks of its core use them.
var symBombs = []Bomb{
	{"inlined calls a hundred thousand deep", func() []byte {
		return symFile(func(b *bytes.Buffer) {
			writeFunction(b)
			for i := range 100_000 {
				fmt.Fprintf(b, "INLINE %d 1 0 0 1000 200\n", i)
			}
		})
	}},
	{"inlined calls of one depth that all overlap", func() []byte {
		return symFile(func(b *bytes.Buffer) {
			writeFunction(b)
			for i := range 200_000 {
				fmt.Fprintf(b, "INLINE 0 1 0 0 %x %x\n", 0x1000+i%256, 0x200-i%256)
			}
		})
	}},
	{"an inlined call of half a million ranges", func() []byte {
		return symFile(func(b *bytes.Buffer) {
			writeFunction(b)
			b.WriteString("INLINE 0 1 0 0" + strings.Repeat(" 1000 200", 500_000) + "\n")
		})
	}},
	{"half a million functions that overlap", func() []byte {
		return symFile(func(b *bytes.Buffer) {
			for i := range 500_000 {
				fmt.Fprintf(b, "FUNC %x %x 0 f\n", 0x1000+i%512, 0x10_0000)
			}
		})
	}},
	{"half a million lines of one address", func() []byte {
		return symFile(func(b *bytes.Buffer) {
			writeFunction(b)
			b.WriteString(strings.Repeat("1000 200 1 0\n", 500_000))
		})
	}},
	{"half a million symbols of one address", func() []byte {
		return symFile(func(b *bytes.Buffer) { b.WriteString(strings.Repeat("PUBLIC 1000 0 p\n", 500_000)) })
	}},
	{"functions of all memory, in each other's lines", func() []byte {
		return symFile(func(b *bytes.Buffer) {
			for i := range 100_000 {
				fmt.Fprintf(b, "FUNC %x ffffffffffff0000 0 f\n%x ffffffff 1 0\n", 0x1000+i%256, 0x1000)
			}
		})
	}},
	{"unwind rows that all overlap", func() []byte {
		return symFile(func(b *bytes.Buffer) {
			for range 100_000 {
				b.WriteString("STACK CFI INIT 1000 1000 .cfa: $rsp 8 + .ra: .cfa 8 - ^\nSTACK CFI 1001 .cfa: $rsp 16 +\n")
			}
		})
	}},
	{"an unwind record of half a million rows", func() []byte {
		return symFile(func(b *bytes.Buffer) {
			b.WriteString("STACK CFI INIT 1000 ffffffff .cfa: $rsp 8 + .ra: .cfa 8 - ^\n")
			for i := range 500_000 {
				fmt.Fprintf(b, "STACK CFI %x .cfa: $rsp 16 + $r%d: .cfa %d + ^\n", 0x1001+i, i%64, i)
			}
		})
	}},
	{"an unwind rule of a million terms", func() []byte {
		return symFile(func(b *bytes.Buffer) {
			b.WriteString("STACK CFI INIT 1000 1000 .cfa: $rsp" + strings.Repeat(" 1 +", 1_000_000) + " .ra: .cfa 8 - ^\n")
		})
	}},
	{"an unwind rule that pushes a million numbers", func() []byte {
		return symFile(func(b *bytes.Buffer) {
			b.WriteString("STACK CFI INIT 1000 1000 .cfa:" + strings.Repeat(" 1", 1_000_000) + " .ra: .cfa 8 - ^\n")
		})
	}},
	{"files and origins of one number", func() []byte {
		return symFile(func(b *bytes.Buffer) {
			for i := range 100_000 {
				fmt.Fprintf(b, "FILE 4294967295 %d\nINLINE_ORIGIN 4294967295 %d\nFILE %d f\n", i, i, i*20_000)
			}
		})
	}},
	{"a name of sixteen megabytes", func() []byte {
		return symFile(func(b *bytes.Buffer) { b.WriteString("FUNC 1000 200 0 " + strings.Repeat("f<", 8<<20) + "\n") })
	}},
	{"a million damaged lines", func() []byte {
		return symFile(func(b *bytes.Buffer) { b.WriteString(strings.Repeat("FUNC x\n", 1_000_000)) })
	}},
	{"a million empty lines", func() []byte {
		return symFile(func(b *bytes.Buffer) { b.WriteString(strings.Repeat("\n", 1_000_000)) })
	}},
	{"Windows programs in a hundred thousand records", func() []byte {
		return symFile(func(b *bytes.Buffer) {
			for range 100_000 {
				b.WriteString("STACK WIN 4 1000 1000 0 0 0 0 0 0 1 $T0 $esp = $T1 .raSearch = $eip $T1 ^ = $esp $T1 4 + =\n")
			}
		})
	}},
}

// symFile returns a symbol file with the given records after the first ones.
func symFile(records func(*bytes.Buffer)) []byte {
	var b bytes.Buffer
	b.WriteString("MODULE Linux x86_64 0847E5D5E188F8BE72F06618D991C7E60 crash-x86_64-gcc12-O2-dw5.elf\nFILE 0 f.c\nINLINE_ORIGIN 0 f\n")
	records(&b)
	return b.Bytes()
}

// writeFunction writes a function over all code.
func writeFunction(b *bytes.Buffer) { b.WriteString("FUNC 1000 200 0 f\n1000 200 1 0\n") }
