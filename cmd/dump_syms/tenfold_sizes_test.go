package main

import (
	"bytes"
	"compress/zlib"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"

	"symkit/internal/limitof"
	"symkit/limits"
	"symkit/test/mutant"
)

// scaled has the limits by the size of a file that TestTenfold sets to a hundredth. For these, largest is
// the largest share of the limit in the corpus, in thousandths: ten times the share of a hundredth of the
// limit is a small file.
var scaled = map[string]bool{"names": true, "output": true}

var sizedTenfolds = []tenfold{
	// Names and output of ceph-osd-dbg/…/fb/66b3cec5f264a2f863d96fa875eb4ae39bb0bf.debug.
	{"names", "bytes of names, thousandths of the limit", 75, "functions below a thousand long scopes", func(n int) []byte {
		return longNames(n, limitof.Names)
	}, func(n int) map[string]int { return map[string]int{"FUNC .*xx::f[0-9]+": namesOf(n, limitof.Names)} }},
	{"output", "bytes of the symbol file, thousandths of the limit", 80, "a line program that only emits rows", longOutput, func(n int) map[string]int {
		return map[string]int{`[0-9a-f]+ 1 \d+ 0$`: outputLines(n)}
	}},
	{"inflate-ratio", "bytes for each byte of a compressed section of more than 16 MiB: .debug_str of the same file", 10, "zlib section of 256 KB that holds 256 MB", compressedStrings, one("FUNC .* f$")},
	{"notes", "notes before the build id: libjvm.so of openjdk-17-jre-headless", 532, "notes that headers share", manyNotes, one("INFO CODE_ID 74656E666F6C6421$")},
	{"abbrevBytes", "bytes read for each byte of .debug_abbrev: all have one table after the other", 1, "units whose abbreviation tables are the ends of one", overlappingAbbrevs, func(n int) map[string]int {
		return map[string]int{"FUNC ": 2 * n}
	}},
	{"line-sharing", "bytes read for each byte of .debug_line: all have one program after the other", 1, "units whose line programs are the ends of one", overlappingLines, func(n int) map[string]int {
		return map[string]int{"FUNC ": 2 * n, `[0-9a-f]+ 10 \d+ 0$`: 2 * n}
	}},
	{"fieldsPerByte", "attributes for 1000 bytes of a unit: python3.11-dbg/…/dc/7ea6fdad516ee27906e1c1fa87c48af65bc294.debug", 411, "thousands of attributes without bytes", manyFields, one("FUNC .* f$")},
	{"maxParts", "parts of an inlined call, in the ranges of the call around", 1, "inlined calls side by side that have all the ranges of one", partsOfCalls, func(n int) map[string]int {
		return map[string]int{"INLINE 1 ": 3000}
	}},
	{"symbols", "symbols of functions at one address: libjvm.so of openjdk-17-jre-headless", 595, "a million symbols at one address", manySymbols, one("PUBLIC m? ?1000 0 f")},
	{"maxComparisons", "functions at one address: folded copies, of which one is right", 49, "a quarter of a million functions at one address", manyCopies, one("FUNC m? ?1000 ")},
}

// nameLength is the length of the scope in longNames.
const nameLength = 4000

// hundredth is n thousandths of a hundredth of a limit, without what it allows for the file's size.
func hundredth(n int, l string) int {
	values, err := limits.Parse("") // symkit's own, whatever the process has
	if err != nil {
		panic(err)
	}
	return values.Int(l) / 100 * n / 1000
}

// namesOf returns the number of functions in longNames.
func namesOf(n int, l string) int { return hundredth(n, l) / nameLength }

// longNames has functions in a namespace of a long name.
func longNames(n int, l string) []byte {
	const abNamespace = 8
	abbrevs := append(bytes.Clone(commonAbbrevs), abbrev(abNamespace, tagNamespace, 1, atName, formString)...)
	dies := append(append([]byte{abNamespace}, strings.Repeat("x", nameLength)...), 0)
	count := namesOf(n, l)
	for i := range count {
		dies = append(dies, function(abFunc, fmt.Sprint("f", i), 16*i, 16)...)
	}
	return assemble(16*count, unitOf(languageCxx, 0, append(dies, 0)), abbrevs)
}

// outputLines is the number of lines in longOutput: a line record has 12 bytes or more.
func outputLines(n int) int { return hundredth(n, limitof.Output) / 12 }

// longOutput has a line for each byte of a function.
func longOutput(n int) []byte {
	count := outputLines(n)
	code := le.AppendUint64([]byte{0, 9, 2}, mutant.TextAddr)
	for i := range count {
		code = append(code, 3, byte(1+i%2), 1, 2, 1) // one line or two on, a row, one byte on
	}
	code = append(code, 0, 1, 1)
	return assemble(count, unitOf(languageC, 0, function(abFunc, "f", 0, count)), commonAbbrevs,
		mutant.Section{Name: ".debug_line", Data: lineProgram([]byte("\x00f\x00\x00\x00\x00\x00"), code)})
}

// compressedStrings has a compressed .debug_str of 17 MiB, which has n bytes for each byte of
// compressed data.
func compressedStrings(n int) []byte {
	const size = 17 << 20
	random := rand.NewChaCha8([32]byte{})
	text := make([]byte, size)
	random.Read(text[:size/n])
	var packed bytes.Buffer
	packed.Write(le.AppendUint64(le.AppendUint64(le.AppendUint64(nil, uint64(elf.COMPRESS_ZLIB)), size), 1))
	w := zlib.NewWriter(&packed)
	w.Write(text)
	w.Close()
	return assemble(64, unitOf(languageC, 0, function(abFunc, "f", 0, 64)), commonAbbrevs, lineless(),
		mutant.Section{Name: ".debug_str", Flags: elf.SHF_COMPRESSED, Data: packed.Bytes()})
}

// manyNotes has a section of n notes and, after them, the build id. The section that has the build
// id in other programs gets another name, and its note another type.
func manyNotes(n int) []byte {
	note := func(kind uint32, text string) []byte {
		b := le.AppendUint32(le.AppendUint32(le.AppendUint32(nil, 4), uint32(len(text))), kind)
		return append(append(b, "GNU\x00"...), text...)
	}
	notes := append(bytes.Repeat(note(7, "12345678"), n), note(3, "tenfold!")...)
	file := assemble(64, unitOf(languageC, 0, function(abFunc, "f", 0, 64)), commonAbbrevs, lineless(),
		mutant.Section{Name: ".note.many", Kind: elf.SHT_NOTE, Data: notes})
	file = bytes.Replace(file, []byte(".note.gnu.build-id"), []byte(".note.gnu.other-id"), 1)
	return bytes.Replace(file, note(3, "bombbomb"), note(7, "bombbomb"), 1)
}

// overlappingAbbrevs has 2n units whose tables end together: n bytes are read for each of
// the section.
func overlappingAbbrevs(n int) []byte {
	const attributes, parts = 2000, 16
	var abbrevs, info []byte
	var starts []int
	code := uint64(abBlock + 1)
	for range 2 * n {
		starts = append(starts, len(abbrevs))
		for range parts / 4 {
			attrs := []uint64{}
			for i := range uint64(attributes) {
				attrs = append(attrs, attrUser+i, formPresent)
			}
			abbrevs = append(abbrevs, abbrev(code, 0x34, 0, attrs...)...)
			code++
		}
	}
	for i, start := range starts {
		info = append(info, unitOf(languageC, start, function(abFunc, fmt.Sprint("f", i), 16*i, 16))...)
	}
	return assemble(16*len(starts), info, append(abbrevs, commonAbbrevs...))
}

// overlappingLines has 2n units whose line programs end together. An extended opcode that symkit does
// not know has bytes that make each program long, another one the header of the next program.
func overlappingLines(n int) []byte {
	const size = 120_000
	extended := func(data []byte) []byte {
		b := binary.AppendUvarint([]byte{0}, uint64(len(data)+1))
		return append(append(b, 0x80), data...) // DW_LNE_lo_user
	}

	// The last program is made first: each has what follows in its code.
	var after, info []byte
	starts := make([]int, 2*n) // from the end of the section
	for i := len(starts) - 1; i >= 0; i-- {
		code := extended(make([]byte, size))
		code = append(code, le.AppendUint64([]byte{0, 9, 2}, mutant.TextAddr+uint64(16*i))...)
		code = append(code, 1, 2, 16, 0, 1, 1)
		if after != nil {
			const header = 4 + 2 + 4 + 18 + 7 // of lineProgram with these tables
			code = append(code, extended(after[:header])...)
			code = append(code, after[header:]...)
		}
		after = lineProgram([]byte("\x00f\x00\x00\x00\x00\x00"), code)
		starts[i] = len(after)
	}
	for i := range starts {
		unit := unitOf(languageC, 0, function(abFunc, fmt.Sprint("f", i), 16*i, 16))
		le.PutUint32(unit[unitHeader+1+1+2:], uint32(len(after)-starts[i]))
		info = append(info, unit...)
	}
	return assemble(16*len(starts), info, commonAbbrevs, mutant.Section{Name: ".debug_line", Data: after})
}

// manyFields has a unit with DIEs of one byte and, for 1000 bytes, n attributes without bytes.
func manyFields(n int) []byte {
	const size = 40_000
	const abMany = 8
	attrs := []uint64{}
	for i := range uint64(n+999) / 1000 {
		attrs = append(attrs, attrUser+i, formPresent)
	}
	abbrevs := append(bytes.Clone(commonAbbrevs), abbrev(abMany, 0x34, 0, attrs...)...)
	return assemble(64, unitOf(languageC, 0, function(abFunc, "f", 0, 64), bytes.Repeat([]byte{abMany}, size)), abbrevs)
}

// partsOfCalls has inlined calls of one range, side by side in a call of many ranges, so that each has
// n parts.
func partsOfCalls(n int) []byte {
	const calls = 3000
	count := calls * n
	dies := append(le.AppendUint32([]byte{abListOuter}, firstDIE), 0, 0, 0, 0)
	for i := range calls {
		dies = append(dies, call(abCall, 2*n*i, 2*n)...)
	}
	return assemble(2*count, unitOf(languageC, 0, inlined(), function(abParent, "f", 0, 2*count), dies, []byte{0, 0}), listAbbrevs(), lineless(), rangeList(count))
}

// manySymbols has n symbols of one function, and no DIE of the function.
func manySymbols(n int) []byte {
	table, names := make([]byte, 24), []byte{0}
	for i := range n {
		// Elf64_Sym: name, STB_GLOBAL and STT_FUNC, visibility, .text, value, size.
		table = append(le.AppendUint32(table, uint32(len(names))), 0x12, 0, 2, 0)
		table = le.AppendUint64(le.AppendUint64(table, mutant.TextAddr), 64)
		names = append(fmt.Appendf(names, "f%d", i), 0)
	}
	return mutant.Program(64, mutant.Section{Name: ".symtab", Kind: elf.SHT_SYMTAB, Data: table, Link: 4, Entry: 24},
		mutant.Section{Name: ".strtab", Kind: elf.SHT_STRTAB, Data: names})
}

// manyCopies has n functions at one address, each in a unit of its own.
func manyCopies(n int) []byte {
	var info []byte
	for i := range n {
		info = append(info, unitOf(languageC, 0, function(abFunc, fmt.Sprint("f", i), 0, 64))...)
	}
	return assemble(64, info, commonAbbrevs)
}
