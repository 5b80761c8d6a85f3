package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"symkit/limits"
	"symkit/test/mutant"
	"symkit/test/programtest"
)

// A limit may only stop work that is done, so what sound programs share or put into each other
// must never meet one. Each case has ten times the largest number that a file of the corpus
// (1,678 modules of Debian 12) or of testdata has.

// tenfold is a program of one kind.
type tenfold struct {
	limit   string // name in internal/limits, or of the constant
	what    string
	largest int    // of the corpus
	bomb    string // of test/mutant, which has as much as there can be
	make    func(n int) []byte
	// want is how many lines of the symbol file begin with a regular expression.
	want func(n int) map[string]int
}

// records wants n lines that begin with a regular expression.
func records(line string) func(n int) map[string]int {
	return func(n int) map[string]int { return map[string]int{line: n} }
}

// one wants one line that begins with a regular expression.
func one(line string) func(n int) map[string]int {
	return func(int) map[string]int { return map[string]int{line: 1} }
}

var tenfolds = slices.Concat(sharedTenfolds, sizedTenfolds)

var sharedTenfolds = []tenfold{
	{"die-depth", "DIEs in each other", 64, "DIEs one million deep", deepBlocks, one("INLINE 0 ")},
	{"symcheck-depth", "inlined calls in each other", 47, "inlined calls one million deep", deepCalls, records("INLINE ")},
	{"abbreviation-attributes", "attributes of an abbreviation", 16, "thousands of attributes without bytes", manyAttributes, one("FUNC ")},
	{"maxSkips", "abbreviations of a unit", 1122, "units that share an abbreviation table", func(n int) []byte { return manyAbbrevs(1, n) }, one("FUNC ")},
	{"maxSet", "different abbreviations of all units", 15_689, "units whose abbreviation tables are the ends of one", func(n int) []byte { return manyAbbrevs(20, n/20) }, func(int) map[string]int { return map[string]int{"FUNC ": 20} }},
	{"symcheck-units", "units with one abbreviation table", 2172, "units that share an abbreviation table", func(n int) []byte { return manyUnits(n, false) }, records("FUNC ")},
	{"line-sharing", "units with one line program: type units of testdata/elf/types-x86_64-gcc12-O2-dw5-types.elf", 250, "units whose line programs are the ends of one", func(n int) []byte { return manyUnits(n, true) }, func(n int) map[string]int {
		return map[string]int{"FUNC ": n, `[0-9a-f]+ 10 \d+ 0$`: n}
	}},
	{"range-entries", "range list entries of a unit, for 1000 bytes of it", 65, "one range list read by every function", func(n int) []byte { return rangesOfUnit(40_000, n*40) }, func(n int) map[string]int {
		return map[string]int{"FUNC ": n * 40}
	}},
	{"range-entries", "ranges of an inlined call", 205, "inlined calls of one range list in every function", rangesOfCall, func(n int) map[string]int {
		const most = 254 // ranges of one record that Breakpad reads
		return map[string]int{"INLINE 0 ": (n + most - 1) / most}
	}},
	{"range-entries", "ranges that calls have beyond those listed, for 1000 bytes of a unit", 12, "inlined calls side by side that have all the ranges of one", func(n int) []byte { return sharedRanges(20_000, n*20) }, func(n int) map[string]int {
		const most = 254
		return map[string]int{"INLINE 0 ": (n*20 + most - 1) / most, "INLINE 1 ": (n*20 + most - 1) / most}
	}},
	{"maxScopeDepth", "scopes declared elsewhere, in each other", 1, "functions of C++ that are each other's scopes and origins", func(n int) []byte { return declaredScopes(n, 1) }, one(`FUNC .* n0::c9::n0::c8::.*::n0::c0::f\(?\)?$`)},
	{"maxScopeSteps", "scopes around such declarations", 28, "scopes of C++ that are declared elsewhere", func(n int) []byte { return declaredScopes(1, n) }, one(`FUNC .* n279::n278::.*::n0::c0::f\(?\)?$`)},
	{"maxOrigins", "DIEs from a function to its first declaration", 3, "functions with one origin, a quarter of a million DIEs away", originChain, one("FUNC .* f$")},
	{"files", "bytes of the names of all source files", 208_154, "one long directory for every file", longFileNames, func(n int) map[string]int {
		return map[string]int{"FILE ": n / 208, `[0-9a-f]+ 1 \d+ \d+$`: n / 208}
	}},
	{"maxSaved", "DW_CFA_remember_state in each other", 1, "remembered states", savedStates, func(int) map[string]int {
		return map[string]int{"STACK CFI INIT 1000 40 .cfa: .rsp 8 [+]": 1, "STACK CFI 1001 .cfa: .rsp 16 [+]": 1, "STACK CFI 1002 .cfa: .rsp 8 [+]": 1}
	}},
	{"maxExprBytes", "bytes of an expression of a rule", 14, "a CIE of a long expression", func(n int) []byte { return longExpression(n, 11*10) }, one(`STACK CFI 1001 .cfa: .rsp 8 [+] (3 [*] ){50}`)},
	{"section-names", "bytes of the section name table", 1187, ".shstrtab of a gigabyte, compressed by zlib", longSectionNames, one("FUNC ")},
}

// checkRow is a line of --check's table: a check, how much it compared, and then what is wrong,
// missing, not verified and found.
var checkRow = regexp.MustCompile(`(?m)^ +[a-z-]+ +\d+((?: +\d+){4})  `)

// TestTenfold: nothing is lost of such programs, and symcheck verifies all of what is written.
func TestTenfold(t *testing.T) {
	if testing.Short() {
		t.Skip("half a minute of large inputs under the race detector")
	}
	for _, test := range tenfolds {
		t.Run(test.limit+", "+test.what, func(t *testing.T) {
			n := 10 * test.largest
			if scaled[test.limit] {
				t.Setenv(limits.Variable, test.limit+"=1%")
				defer setLimits(t, test.limit+"=100%")
			}
			dir := t.TempDir()
			file, sym := filepath.Join(dir, "program"), filepath.Join(dir, "program.sym")
			programtest.Write(t, file, test.make(n))
			var stdout, stderr bytes.Buffer
			if code := run(t.Context(), []string{"--inlines", "--check", "-v", "-o", sym, file}, &stdout, &stderr); code != 0 || strings.Contains(stderr.String(), " limit ") {
				t.Errorf("exit code %d: %.2000s%.2000s", code, &stderr, &stdout)
			}
			if rows := checkRow.FindAllSubmatch(stderr.Bytes(), -1); len(rows) < 15 {
				t.Errorf("%d checks: %s", len(rows), &stderr)
			} else {
				for _, row := range rows {
					if zeros := strings.Fields(string(row[1])); strings.Join(zeros, "") != "0000" {
						t.Errorf("not sound: %s", row[0])
					}
				}
			}
			text, err := os.ReadFile(sym)
			if err != nil {
				t.Fatal(err)
			}
			for line, want := range test.want(n) {
				got := len(regexp.MustCompile("(?m)^"+line).FindAll(text, -1))
				if got != want {
					t.Errorf("%d lines %q, want %d: %.600s", got, line, want, text)
				}
			}
		})
	}
}

// setLimits sets limits, which stay set for the process.
func setLimits(t *testing.T, setting string) {
	t.Setenv(limits.Variable, setting)
	if err := limits.FromEnv(); err != nil {
		t.Fatal(err)
	}
}

var le = binary.LittleEndian

// Tags, attributes and forms (DWARF 5 §7.5.3 to §7.5.6).
const (
	tagStruct, tagBlock, tagUnit, tagCall, tagFunction, tagNamespace = 0x13, 0x0b, 0x11, 0x1d, 0x2e, 0x39

	atName, atStmtList, atLowPC, atHighPC, atLanguage, atInline, atOrigin, atDeclaration, atSpecification, atRanges = 0x03, 0x10, 0x11, 0x12, 0x13, 0x20, 0x31, 0x3c, 0x47, 0x55

	formAddr, formData4, formData1, formString, formRef4, formSecOffset, formPresent = 0x01, 0x06, 0x0b, 0x08, 0x13, 0x17, 0x19
)

// abbrev is one abbreviation: a code, a tag, whether there are children, attributes and forms.
func abbrev(code, tag uint64, children byte, attrs ...uint64) []byte {
	b := binary.AppendUvarint(binary.AppendUvarint(nil, code), tag)
	b = append(b, children)
	for _, v := range attrs {
		b = binary.AppendUvarint(b, v)
	}
	return append(b, 0, 0)
}

// The abbreviations that all programs here have.
const (
	abUnit, abFunc, abParent, abInlined, abCall, abOuterCall, abBlock = 1, 2, 3, 4, 5, 6, 7
)

var commonAbbrevs = bytes.Join([][]byte{
	abbrev(abUnit, tagUnit, 1, atLanguage, formData1, atName, formString, atStmtList, formSecOffset),
	abbrev(abFunc, tagFunction, 0, atName, formString, atLowPC, formAddr, atHighPC, formData4),
	abbrev(abParent, tagFunction, 1, atName, formString, atLowPC, formAddr, atHighPC, formData4),
	abbrev(abInlined, tagFunction, 0, atName, formString, atInline, formData1),
	abbrev(abCall, tagCall, 0, atOrigin, formRef4, atLowPC, formAddr, atHighPC, formData4),
	abbrev(abOuterCall, tagCall, 1, atOrigin, formRef4, atLowPC, formAddr, atHighPC, formData4),
	abbrev(abBlock, tagBlock, 1),
}, nil)

const (
	unitHeader = 4 + 7                      // DWARF 4 §7.5.1.1
	firstDIE   = unitHeader + 1 + 1 + 2 + 4 // after the unit's own DIE

	languageC, languageCxx = 1, 4
)

// unitOf is a unit of DIEs with an offset of abbreviations.
func unitOf(language byte, abbrevs int, dies ...[]byte) []byte {
	b := le.AppendUint32([]byte{4, 0}, uint32(abbrevs))
	b = append(b, 8, abUnit, language, 'u', 0, 0, 0, 0, 0)
	b = append(append(b, bytes.Join(dies, nil)...), 0)
	return append(le.AppendUint32(nil, uint32(len(b))), b...)
}

// extent is low_pc and high_pc, from an offset in .text on.
func extent(at, size int) []byte {
	return le.AppendUint32(le.AppendUint64(nil, uint64(mutant.TextAddr+at)), uint32(size))
}

// function has a name and code.
func function(code byte, name string, at, size int) []byte {
	return append(append(append([]byte{code}, name...), 0), extent(at, size)...)
}

// call is an inlined call of the function at firstDIE.
func call(code byte, at, size int) []byte {
	return append(le.AppendUint32([]byte{code}, firstDIE), extent(at, size)...)
}

// inlined is a function for calls, which must be the first DIE of a unit.
func inlined() []byte { return []byte{abInlined, 'i', 0, 1} }

// assemble is a program with so many bytes of .text. Its units have an empty line program.
func assemble(text int, info, abbrevs []byte, more ...mutant.Section) []byte {
	if len(more) == 0 || more[0].Name != ".debug_line" {
		more = append(more, mutant.Section{Name: ".debug_line", Data: lineProgram([]byte("\x00f\x00\x00\x00\x00\x00"), nil)})
	}
	return mutant.Program(text, append(more, mutant.Section{Name: ".debug_info", Data: info}, mutant.Section{Name: ".debug_abbrev", Data: append(abbrevs, 0)})...)
}

// lineProgram is one of DWARF 4 (§6.2.4) with tables of directories and files and code.
func lineProgram(tables, code []byte) []byte {
	header := append([]byte{1, 1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1}, tables...)
	b := le.AppendUint32([]byte{4, 0}, uint32(len(header)))
	b = append(append(b, header...), code...)
	return append(le.AppendUint32(nil, uint32(len(b))), b...)
}

func deepBlocks(n int) []byte {
	// The unit, the function, the call and the end of it are levels, too.
	blocks := n - 3
	return assemble(64, unitOf(languageC, 0, inlined(), function(abParent, "f", 0, 64), bytes.Repeat([]byte{abBlock}, blocks), call(abCall, 8, 8), make([]byte, blocks+1)), commonAbbrevs)
}

func deepCalls(n int) []byte {
	return assemble(64, unitOf(languageC, 0, inlined(), function(abParent, "f", 0, 64), bytes.Repeat(call(abOuterCall, 8, 8), n), make([]byte, n+1)), commonAbbrevs)
}

// attrUser is the first vendor attribute (DW_AT_lo_user); symkit ignores the attribute.
const attrUser = 0x2000

func manyAttributes(n int) []byte {
	attrs := []uint64{atName, formString, atLowPC, formAddr, atHighPC, formData4}
	for i := range uint64(n - 3) {
		attrs = append(attrs, attrUser+0x1000+i, formData1)
	}
	abbrevs := append(bytes.Clone(commonAbbrevs), abbrev(8, tagFunction, 0, attrs...)...)
	return assemble(64, unitOf(languageC, 0, function(8, "f", 0, 64), make([]byte, n-3)), abbrevs)
}

// manyAbbrevs has tables of n abbreviations that are in no other table, each of one unit with a
// function of the last one.
func manyAbbrevs(tables, n int) []byte {
	var info, abbrevs []byte
	for i := range tables {
		at := len(abbrevs)
		abbrevs = append(abbrevs, commonAbbrevs...)
		const first = abBlock + 1
		for k := first; k <= n; k++ {
			abbrevs = append(abbrevs, abbrev(uint64(k), tagFunction, 0, atName, formString, atLowPC, formAddr, atHighPC, formData4, attrUser+0x1000+uint64(i*n+k)%0x1000, formPresent, attrUser+0x1000+uint64(i*n+k)/0x1000, formPresent)...)
		}
		abbrevs = append(abbrevs, 0)
		die := append(binary.AppendUvarint(nil, uint64(n)), function(0, fmt.Sprint("f", i), 16*i, 16)[1:]...)
		info = append(info, unitOf(languageC, at, die)...)
	}
	return assemble(16*tables, info, abbrevs)
}

// manyUnits are units of a function. With lines, all have one line program with a row for each.
func manyUnits(n int, lines bool) []byte {
	var info, code []byte
	code = le.AppendUint64([]byte{0, 9, 2}, mutant.TextAddr)
	for i := range n {
		info = append(info, unitOf(languageC, 0, function(abFunc, fmt.Sprint("f", i), 16*i, 16))...)
		code = append(code, 1, 2, 16) // a row, 16 bytes on
		code = append(code, 3, 1)     // the next line
	}
	code = append(code, 0, 1, 1)
	if !lines {
		return assemble(16*n, info, commonAbbrevs)
	}
	return assemble(16*n, info, commonAbbrevs, mutant.Section{Name: ".debug_line", Data: lineProgram([]byte("\x00f\x00\x00\x00\x00\x00"), code)})
}

// rangeList has n ranges of a byte, two bytes apart.
func rangeList(n int) mutant.Section {
	var b []byte
	for i := range uint64(n) {
		b = le.AppendUint64(le.AppendUint64(b, mutant.TextAddr+2*i), mutant.TextAddr+2*i+1)
	}
	return mutant.Section{Name: ".debug_ranges", Data: append(b, make([]byte, 16)...)}
}

// listAbbrevs are 8, a function with a range list, 9 and 10, inlined calls with one, and a block
// of bytes that symkit ignores.
const abListFunc, abListCall, abListOuter, abPad = 8, 9, 10, 11

func listAbbrevs() []byte {
	return bytes.Join([][]byte{
		commonAbbrevs,
		abbrev(abListFunc, tagFunction, 0, atName, formString, atRanges, formSecOffset),
		abbrev(abListCall, tagCall, 0, atOrigin, formRef4, atRanges, formSecOffset),
		abbrev(abListOuter, tagCall, 1, atOrigin, formRef4, atRanges, formSecOffset),
		abbrev(abPad, 0x34, 0, 0x1c, 0x04), // a variable with a value of a block
	}, nil)
}

// padding returns a DIE with n bytes that symkit ignores.
func padding(n int) []byte {
	return append(le.AppendUint32([]byte{abPad}, uint32(n)), make([]byte, n)...)
}

// rangesOfUnit is a unit of size bytes with a function of n ranges.
func rangesOfUnit(size, n int) []byte {
	return assemble(2*n, unitOf(languageC, 0, []byte{abListFunc, 'f', 0, 0, 0, 0, 0}, padding(size)), listAbbrevs(), lineless(), rangeList(n))
}

// lineless is the empty line program of assemble.
func lineless() mutant.Section {
	return mutant.Section{Name: ".debug_line", Data: lineProgram([]byte("\x00f\x00\x00\x00\x00\x00"), nil)}
}

// rangesOfCall has an inlined call with n ranges.
func rangesOfCall(n int) []byte {
	return assemble(2*n, unitOf(languageC, 0, inlined(), function(abParent, "f", 0, 2*n), le.AppendUint32([]byte{abListCall}, firstDIE), make([]byte, 4+1), padding(4*n)), listAbbrevs(), lineless(), rangeList(n))
}

// sharedRanges is a unit of size bytes with an inlined call of n ranges, and one in it that lists
// one range and so has all of them.
func sharedRanges(size, n int) []byte {
	outer := append(le.AppendUint32([]byte{abListOuter}, firstDIE), 0, 0, 0, 0)
	return assemble(2*n, unitOf(languageC, 0, inlined(), function(abParent, "f", 0, 2*n), outer, call(abCall, 0, 2*n), []byte{0, 0}, padding(size)), listAbbrevs(), lineless(), rangeList(n))
}

// declaredScopes: a function in a class that is declared in namespaces in a class that is
// declared in namespaces, and so on.
func declaredScopes(depth, namespaces int) []byte {
	const abNamespace, abDeclared, abClass = 8, 9, 10
	abbrevs := bytes.Join([][]byte{
		commonAbbrevs,
		abbrev(abNamespace, tagNamespace, 1, atName, formString),
		abbrev(abDeclared, tagStruct, 0, atName, formString, atDeclaration, formPresent),
		abbrev(abClass, tagStruct, 1, atSpecification, formRef4),
	}, nil)
	var dies []byte
	declared := 0
	for level := depth - 1; level >= 0; level-- {
		if level < depth-1 {
			dies = le.AppendUint32(append(dies, abClass), uint32(declared))
		}
		for i := namespaces - 1; i >= 0; i-- {
			dies = append(append(append(dies, abNamespace), fmt.Sprint("n", i)...), 0)
		}
		declared = firstDIE + len(dies)
		dies = append(append(append(dies, abDeclared), fmt.Sprint("c", level)...), 0)
		dies = append(dies, make([]byte, namespaces)...)
		if level < depth-1 {
			dies = append(dies, 0)
		}
	}
	dies = le.AppendUint32(append(dies, abClass), uint32(declared))
	dies = append(append(dies, function(abFunc, "f", 0, 64)...), 0)
	return assemble(64, unitOf(languageCxx, 0, dies), abbrevs)
}

// originChain: n DIEs, each the origin of the next; the first has the name, the last the code.
func originChain(n int) []byte {
	const abNext, abLast = 8, 9
	abbrevs := bytes.Join([][]byte{
		commonAbbrevs,
		abbrev(abNext, tagFunction, 0, atOrigin, formRef4),
		abbrev(abLast, tagFunction, 0, atOrigin, formRef4, atLowPC, formAddr, atHighPC, formData4),
	}, nil)
	dies := []byte{abInlined, 'f', 0, 1}
	last := firstDIE
	for range n - 2 {
		next := firstDIE + len(dies)
		dies = le.AppendUint32(append(dies, abNext), uint32(last))
		last = next
	}
	dies = append(le.AppendUint32(append(dies, abLast), uint32(last)), extent(0, 64)...)
	return assemble(64, unitOf(languageC, 0, dies), abbrevs)
}

// longFileNames are n bytes of names of files, each with one row of a line program.
func longFileNames(n int) []byte {
	const long = 208
	tables := []byte{0}
	code := le.AppendUint64([]byte{0, 9, 2}, mutant.TextAddr)
	for i := range n / long {
		tables = append(fmt.Appendf(tables, "/%0*d", long-1, i), 0, 0, 0, 0)
		code = append(binary.AppendUvarint(append(code, 4), uint64(i+1)), 1, 2, 1)
	}
	code = append(code, 0, 1, 1)
	return assemble(n/long, unitOf(languageC, 0, function(abFunc, "f", 0, n/long)), commonAbbrevs, mutant.Section{Name: ".debug_line", Data: lineProgram(append(tables, 0), code)})
}

func longSectionNames(n int) []byte {
	return assemble(64, unitOf(languageC, 0, function(abFunc, "f", 0, 64)), commonAbbrevs, lineless(), mutant.Section{Name: strings.Repeat("n", n)})
}

// unwindProgram has a function with a FDE of call frame instructions (DWARF 5 §6.4.2) in
// .debug_frame, after which the CFA is %rsp + 8.
func unwindProgram(instructions []byte) []byte {
	entry := func(id uint32, b []byte) []byte {
		b = append(le.AppendUint32(nil, id), b...)
		return append(le.AppendUint32(nil, uint32(len(b))), b...)
	}
	// Version, no augmentation, alignment of code and data, return address, def_cfa, offset.
	cie := entry(0xffffffff, []byte{1, 0, 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1})
	fde := entry(0, append(le.AppendUint64(le.AppendUint64(nil, mutant.TextAddr), 64), instructions...))
	return assemble(64, unitOf(languageC, 0, function(abFunc, "f", 0, 64)), commonAbbrevs, lineless(), mutant.Section{Name: ".debug_frame", Data: append(cie, fde...)})
}

func savedStates(n int) []byte {
	const advance1, offset, remember, restore = 0x41, 0x0e, 0x0a, 0x0b
	b := append([]byte{advance1}, bytes.Repeat([]byte{remember}, n)...)
	b = append(b, offset, 16, advance1)
	return unwindProgram(append(b, bytes.Repeat([]byte{restore}, n)...))
}

// longExpression has a CFA of an expression of n bytes, which is about so many words of postfix.
func longExpression(n, words int) []byte {
	const advance1, expression, rsp, nop, lit3, mul = 0x41, 0x0f, 0x77, 0x96, 0x33, 0x1e
	e := append([]byte{rsp, 8}, bytes.Repeat([]byte{lit3, mul}, (words-3)/2)...)
	e = append(e, bytes.Repeat([]byte{nop}, n-len(e))...)
	return unwindProgram(append(binary.AppendUvarint([]byte{advance1, expression}, uint64(n)), e...))
}
