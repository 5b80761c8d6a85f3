package mutant

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
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
	{"a thousand inlined calls of one long name", func() []byte {
		return symFile(func(b *bytes.Buffer) {
			b.WriteString("INLINE_ORIGIN 1 " + strings.Repeat("f<", 30_000) + "\n")
			writeFunction(b)
			for i := range 1000 {
				fmt.Fprintf(b, "INLINE %d 1 0 1 1000 200\n", i)
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

// symRecords are the smallest legal records of symbol files, with what has to come before them.
var symRecords = []struct{ name, before, record string }{
	{"MODULE", "", "MODULE a b 1 c\n"},
	{"INFO", "", "INFO a\n"},
	{"INFO CODE_ID", "", "INFO CODE_ID 1\n"},
	{"INFO SIGNAL_FRAME", "", "INFO SIGNAL_FRAME 1 1\n"},
	{"INFO PUBLIC_SIZES", "PUBLIC 1 0 p\n", "INFO PUBLIC_SIZES 1 1 1\n"},
	{"sizes of an INFO PUBLIC_SIZES", "INFO PUBLIC_SIZES 0 ffffffff", " 1"},
	{"FILE", "", "FILE 1 f\n"},
	{"INLINE_ORIGIN", "", "INLINE_ORIGIN 1 f\n"},
	{"FUNC", "", "FUNC 1 1 0 f\n"},
	{"FUNC m", "", "FUNC m 1 1 0 f\n"},
	{"FUNC of all memory", "", "FUNC 1 ffffffff 0 f\n"},
	{"INLINE", "FUNC 1000 200 0 f\n", "INLINE 0 1 0 0 1000 1\n"},
	{"ranges of an INLINE", "FUNC 1000 200 0 f\nINLINE 0 1 0 0", " 1000 1"},
	{"INLINE of the old form", "FUNC 1000 200 0 f\n", "INLINE 0 1 0 1000 1\n"},
	{"line", "FUNC 1000 200 0 f\n", "1000 1 1 0\n"},
	{"line without a FUNC", "", "1 1 1 0\n"},
	{"PUBLIC", "", "PUBLIC 1 0 p\n"},
	{"PUBLIC m", "", "PUBLIC m 1 0 p\n"},
	{"STACK CFI INIT", "", "STACK CFI INIT 1 1 .cfa: 1 .ra: 1\n"},
	{"STACK CFI", "STACK CFI INIT 1000 1000 .cfa: $rsp 8 + .ra: .cfa 8 - ^\n", "STACK CFI 1001 .cfa: 1\n"},
	{"STACK WIN", "", "STACK WIN 4 1 1 0 0 0 0 0 0 1 1\n"},
	{"STACK WIN without a program", "", "STACK WIN 0 1 1 0 0 0 0 0 0 0 1\n"},
	{"empty line", "", "\n"},
	{"malformed line", "", "x\n"},
}

// symRecordBombs are symbol files of one record of symRecords again and again: some megabytes as they
// are, and as much as a packed one may unpack to, packed by gzip and by zstd. Only stackwalk reads
// packed ones.
func symRecordBombs() (plain, packed []Bomb) {
	for _, r := range symRecords {
		text := func(size int) []byte {
			return symFile(func(b *bytes.Buffer) { b.WriteString(r.before + strings.Repeat(r.record, size/len(r.record)) + "\n") })
		}
		plain = append(plain, Bomb{"symbol file of the smallest records: " + r.name, func() []byte { return text(plainSymbols) }})
		for how, size := range map[string]int{"gzip": packedSymbols, "zstd": packedSymbols, "gzip, less": packedSymbols / 3} {
			packed = append(packed, Bomb{"symbol file of the smallest records: " + r.name + ", packed by " + how,
				func() []byte { return packText(text(size), strings.HasPrefix(how, "gzip")) }})
		}
	}
	slices.SortFunc(packed, func(a, b Bomb) int { return cmp.Compare(a.Name, b.Name) })
	return plain, packed
}

// Sizes of symbol files in bytes: as they are, and unpacked.
const plainSymbols, packedSymbols = 8 << 20, 63 << 20

// packText packs a symbol file.
func packText(text []byte, byGzip bool) []byte {
	var b bytes.Buffer
	if byGzip {
		w := gzip.NewWriter(&b)
		w.Write(text) // to memory: cannot fail
		w.Close()
		return b.Bytes()
	}
	w, _ := zstd.NewWriter(&b, zstd.WithEncoderConcurrency(1)) // the options are legal ones
	w.Write(text)                                              // to memory: cannot fail
	w.Close()
	return b.Bytes()
}
