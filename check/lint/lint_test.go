package lint_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"symkit/check/diff"
	"symkit/check/internal/checks"
	"symkit/check/internal/symfile"
	"symkit/check/lint"
	"symkit/check/report"
)

const lintHead = "MODULE Linux x86_64 0123456789ABCDEF0 app\nFILE 0 a.c\nINLINE_ORIGIN 0 inlined\n"

const goodCFI = "STACK CFI INIT 10 20 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n"

// TestLint checks that each fault is reported under its check, at its line.
func TestLint(t *testing.T) {
	for _, test := range []struct {
		name, text, check string
		line              int
		what              string
	}{
		{"unknown record", "NOSUCH 1\n", checks.Grammar, 4, "unknown record"},
		{"dangling file number", "FUNC 10 10 0 f\n10 10 1 7\n", checks.Grammar, 5, "number of no earlier record"},
		{"dangling origin number", "FUNC 10 10 0 f\nINLINE 0 1 0 9 10 4\n", checks.Grammar, 5, "number of no earlier record"},
		{"line without FUNC", "10 10 1 0\n", checks.Grammar, 4, "record out of place"},
		{"delta without INIT", "STACK CFI 10 .cfa: $rsp 8 +\n", checks.Grammar, 4, "record out of place"},
		{"delta outside of its INIT", goodCFI + "STACK CFI 30 .cfa: $rsp 16 +\n", checks.Grammar, 5, "record out of place"},
		{"file -1", "FUNC 10 10 0 f\nINLINE 0 1 -1 0 10 4\n", checks.Grammar, 5, "malformed number"},
		{"CRLF", "FUNC 10 10 0 f\r\n", checks.Grammar, 4, "control character"},
		{"NUL", "FUNC 10 10 0 f\x00\n", checks.Grammar, 4, "control character"},
		{"no newline at the end", "FUNC 10 10 0 f", checks.Grammar, 4, "last line without newline"},
		{"FILE twice", "FILE 0 b.c\n", checks.Duplicates, 4, "FILE 0 is also on line 2"},
		{"INLINE_ORIGIN twice", "INLINE_ORIGIN 0 b\n", checks.Duplicates, 4, "INLINE_ORIGIN 0 is also on line 3"},
		{"GENERATOR twice", "INFO GENERATOR a\nINFO GENERATOR a\n", checks.Duplicates, 5, "INFO GENERATOR is also on line 4"},
		{"FUNC twice", "FUNC 10 10 0 f\nFUNC 10 8 0 g\n", checks.Duplicates, 5, "a FUNC at 0x10 is also on line 4"},
		{"PUBLIC twice", "PUBLIC 10 0 f\nPUBLIC 10 0 g\n", checks.Duplicates, 5, "a PUBLIC at 0x10 is also on line 4"},
		{"sizes of nothing", "INFO PUBLIC_SIZES 10 20\nPUBLIC 10 0 f\n", checks.Grammar, 4, "want the addresses of the first and the last PUBLIC, and sizes"},
		{"too few sizes", "INFO PUBLIC_SIZES 10 20 8\nPUBLIC 10 0 f\nPUBLIC 20 0 g\n", checks.Grammar, 4, "1 sizes for 2 PUBLIC records from 0x10 to 0x20"},
		{"a size twice", "INFO PUBLIC_SIZES 10 20 8 8\nINFO PUBLIC_SIZES 20 20 8\nPUBLIC 10 0 f\nPUBLIC 20 0 g\n", checks.Order, 5, "the PUBLIC at 0x20 has a size already"},
		{"FUNC overlap", "FUNC 10 10 0 f\nFUNC 18 10 0 g\n", checks.Overlaps, 5, "begins inside the FUNC of line 4"},
		{"line overlap", "FUNC 10 10 0 f\n10 8 1 0\n14 4 2 0\n", checks.Overlaps, 6, "overlaps the line record of line 5"},
		{"INIT overlap", goodCFI + "STACK CFI INIT 18 4 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n", checks.Overlaps, 5, "begins inside the range of line 4"},
		{"INLINE overlap", "FUNC 10 10 0 f\nINLINE 0 1 0 0 10 8\nINLINE 0 2 0 0 14 8\n", checks.Overlaps, 6, "overlaps the call of line 5"},
		{"line outside of its FUNC", "FUNC 10 10 0 f\n10 11 1 0\n", checks.Nesting, 5, "reaches out of its FUNC"},
		{"INLINE outside of its FUNC", "FUNC 10 10 0 f\nINLINE 0 1 0 0 f 4\n", checks.Nesting, 5, "reaches out of its FUNC"},
		{"INLINE outside of its parent", "FUNC 10 10 0 f\nINLINE 0 1 0 0 10 4\nINLINE 1 2 0 0 12 4\n", checks.Nesting, 6, "no call of depth 0 contains 0x14"},
		{"INLINE without parent", "FUNC 10 10 0 f\nINLINE 1 2 0 0 12 4\n", checks.Nesting, 5, "no call of depth 0 contains 0x12"},
		{"INLINE two levels down", "FUNC 10 10 0 f\nINLINE 0 1 0 0 10 8\nINLINE 2 2 0 0 12 4\n", checks.Nesting, 6, "no call of depth 1 contains 0x12"},
		{"FUNC without size", "FUNC 10 0 0 f\n", checks.Consumers, 4, "a size of 0"},
		{"line without size", "FUNC 10 10 0 f\n10 0 1 0\n", checks.Consumers, 5, "a size of 0"},
		{"INIT without size", "STACK CFI INIT 10 0 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n", checks.Consumers, 4, "a size of 0"},
		{"INLINE without size", "FUNC 10 10 0 f\nINLINE 0 1 0 0 10 0\n", checks.Consumers, 5, "an empty range"},
		{"no .cfa", "STACK CFI INIT 10 8 .ra: $rsp ^\n", checks.Rules, 4, "no .cfa"},
		{"no .ra", "STACK CFI INIT 10 8 .cfa: $rsp 8 +\n", checks.Rules, 4, "no .ra"},
		{".cfa by .cfa", "STACK CFI INIT 10 8 .cfa: .cfa 8 + .ra: 1\n", checks.Rules, 4, ".cfa refers to itself"},
		{"unknown register", "STACK CFI INIT 10 8 .cfa: $esp 8 + .ra: 1\n", checks.Rules, 4, `unknown register or token "$esp"`},
		{"unknown register on the left", "STACK CFI INIT 10 8 .cfa: $rsp 8 + .ra: 1 unnamed_register34: 2\n", checks.Rules, 4, "unknown register"},
		{"two values left", "STACK CFI INIT 10 8 .cfa: $rsp 8 .ra: 1\n", checks.Rules, 4, "does not leave exactly one value"},
		{"division by zero", "STACK CFI INIT 10 8 .cfa: $rsp 0 / .ra: 1\n", checks.Rules, 4, "divides by zero"},
		{"alignment to 12", "STACK CFI INIT 10 8 .cfa: $rsp 12 @ .ra: 1\n", checks.Rules, 4, "no power of two"},
		{"a rule twice", "STACK CFI INIT 10 8 .cfa: $rsp 8 + .ra: 1 .ra: 2\n", checks.Rules, 4, "a second rule"},
		{"in a delta", goodCFI + "STACK CFI 18 $rbx: $rbx +\n", checks.Rules, 5, "operator without operands"},
		{"STACK WIN type", "STACK WIN 7 10 8 0 0 0 0 0 0 0 0\n", checks.Win, 4, "type 7"},
		{"STACK WIN program", "STACK WIN 4 10 8 0 0 0 0 0 0 1 $eip 4 + ^ =\n", checks.Win, 4, "operator without operands"},
		{"STACK WIN program sets too little", "STACK WIN 4 10 8 0 0 0 0 0 0 1 $eip $esp ^ =\n", checks.Win, 4, "does not set $eip and $esp"},
		{"STACK WIN assigns to a value", "STACK WIN 4 10 8 0 0 0 0 0 0 1 4 $esp =\n", checks.Win, 4, "assigns to a value"},
		{"STACK WIN type 4 without program", "STACK WIN 4 10 8 0 0 0 0 0 0 0 0\n", checks.Win, 4, "program string"},
		{"STACK WIN prologue", "STACK WIN 0 10 8 9 0 0 0 0 0 0 0\n", checks.Win, 4, "larger than the code"},
	} {
		rep, err := lint.File([]byte(lintHead+test.text), report.Options{})
		if err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		if len(rep.Findings) != 1 || rep.Findings[0].Check != test.check || rep.Findings[0].Line != test.line ||
			!strings.Contains(rep.Findings[0].What, test.what) {
			t.Errorf("%s: got %+v, want one of %s in line %d: %s", test.name, rep.Findings, test.check, test.line, test.what)
		}
	}
}

// TestLintGood checks that valid records are not reported.
func TestLintGood(t *testing.T) {
	for _, text := range []string{
		"",
		"FUNC m 10 10 0 f\nINLINE 0 1 0 0 10 8 1a 2\nINLINE 1 1 0 0 12 2 1a 1\n10 8 0 0\n18 8 4 0\nPUBLIC 8 0 g\n",
		goodCFI + "STACK CFI 14 .cfa: $rsp 16 + $rbx: .cfa -16 + ^\nSTACK CFI 18 $rbx: .undef .ra: 1\n",
		"STACK CFI INIT 10 8 .cfa: $rsp 8 + $rip: .cfa -8 + ^\n",                                                           // $rip stands for .ra
		"STACK CFI INIT 20 8 .cfa: $rsp 8 + .ra: 1\n" + goodCFI[:len("STACK CFI INIT 10 ")] + "10 .cfa: $rsp 8 + .ra: 1\n", // not in order
		"STACK WIN 4 10 8 0 0 0 0 0 0 1 $T0 .raSearch = $eip $T0 ^ = $esp $T0 4 + =\nSTACK WIN 0 20 8 0 0 0 0 0 0 0 1\n",
		"INLINE_ORIGIN 1 inlined two\nFUNC 10 10 0 f\nINLINE 0 1 0 0 10 4\nINLINE 0 1 0 1 14 4\nINLINE 1 1 0 0 12 4\n", // two parents together
	} {
		rep, err := lint.File([]byte(lintHead+text), report.Options{})
		if err != nil || rep.Total() > 0 {
			t.Errorf("%q: %v, %+v", text, err, rep.Findings)
		}
	}
}

// TestLintCanonical checks that a file whose INFO GENERATOR names symkit has symkit's order and
// spelling.
func TestLintCanonical(t *testing.T) {
	const head = "MODULE Linux x86_64 0123456789ABCDEF0 app\nINFO CODE_ID 01\nINFO GENERATOR symkit dump_syms v1\nFILE 0 a.c\nFILE 1 b.c\n"
	const good = head + "FUNC 10 10 0 f\n10 8 1 0\n18 8 1 1\nFUNC 20 10 0 g\nPUBLIC 5 0 h\nPUBLIC 30 0 i\n" +
		"STACK CFI INIT 10 8 .cfa: $rsp 8 + .ra: 1\nSTACK CFI INIT 20 8 .cfa: $rsp 8 + .ra: 1\n"
	if rep, err := lint.File([]byte(good), report.Options{}); err != nil || rep.Total() > 0 {
		t.Fatalf("%v, %+v", err, rep.Findings)
	}
	for _, swap := range []int{1, 3, 6, 9, 11} { // INFO, FILE, lines, PUBLIC, INIT
		lines := strings.SplitAfter(good, "\n")
		lines[swap], lines[swap+1] = lines[swap+1], lines[swap]
		bad := strings.Join(lines, "")
		rep, err := lint.File([]byte(bad), report.Options{})
		if err != nil || rep.Check(checks.Canonical) == nil || rep.Check(checks.Canonical).Findings == 0 {
			t.Errorf("lines %d and %d swapped: %v, %+v", swap+1, swap+2, err, rep.Findings)
		}
		other := strings.Replace(bad, "symkit", "other", 1)
		if rep, err := lint.File([]byte(other), report.Options{}); err != nil || rep.Check(checks.Canonical) != nil {
			t.Errorf("another tool's file is held to symkit's order: %v", err)
		}
	}
	for bad, want := range map[string]string{
		"FUNC 010 10 0 f\n":             "symkit writes FUNC 10 10 0 f",
		"PUBLIC 5 0 h\nFUNC 10 8 0 f\n": "before the record above",
		"INLINE_ORIGIN 0 g\nFUNC 10 8 0 f\nINLINE 1 1 0 0 10 4\nINLINE 0 2 0 0 10 8\n": "after the call that it is in, line 9",
		"STACK CFI INIT 10 8 .cfa: $rsp 8 + .ra: 16\n":                                 "symkit writes .ra: 1",
		"FUNC 20 8 0 f\nFUNC 10 8 0 g\n":                                               "out of address order",
	} {
		rep, err := lint.File([]byte(head+bad), report.Options{})
		if err != nil || len(rep.Findings) != 1 || !strings.Contains(rep.Findings[0].What, want) {
			t.Errorf("%q: %v, %+v", bad, err, rep.Findings)
		}
	}
}

// TestLintGarbage checks that garbage gives a clear answer, in bounded memory.
func TestLintGarbage(t *testing.T) {
	if _, err := lint.File(nil, report.Options{}); !errors.Is(err, symfile.ErrEmpty) {
		t.Errorf("an empty file: %v", err)
	}
	garbage := bytes.Repeat([]byte("not a symbol file\x00\xff\r\n"), 1<<16)
	long := append(append([]byte(lintHead), bytes.Repeat([]byte{'x'}, 100<<20)...), '\n')
	for name, data := range map[string][]byte{"garbage": garbage, "a line of 100 MB": long, "NULs": make([]byte, 1<<20)} {
		rep, err := lint.File(data, report.Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		k := rep.Check(checks.Grammar)
		if k.Findings == 0 || len(rep.Findings) > report.DefaultLimit {
			t.Errorf("%s: %+v", name, k)
		}
		for _, f := range rep.Findings {
			if len(f.Record) > 4*symfile.MaxShown+10 {
				t.Errorf("%s: %d bytes shown of a record", name, len(f.Record))
			}
		}
	}
}

// TestLimit checks that all findings are counted, and that the first ones are kept, in whatever
// order they come.
func TestLimit(t *testing.T) {
	var b strings.Builder
	b.WriteString(lintHead)
	for i := range 5000 {
		fmt.Fprintf(&b, "PUBLIC %x 0 f\n", 10+(4999-i)/2)
	}
	rep, err := lint.File([]byte(b.String()), report.Options{Limit: 3})
	if err != nil || rep.Total() != 2500 || len(rep.Findings) != 3 || rep.Findings[0].Line != 5 || rep.Findings[2].Line != 9 {
		t.Errorf("%v: %d, %+v", err, rep.Total(), rep.Findings)
	}
	rep, err = lint.File([]byte(b.String()), report.Options{Only: []string{checks.Grammar}})
	if err != nil || rep.Total() != 0 || len(rep.Checks) != 1 {
		t.Errorf("--only: %v, %+v", err, rep)
	}
}

// FuzzLint checks that no text causes a panic, that findings have lines of the text, and that a
// file does not differ from itself.
func FuzzLint(f *testing.F) {
	f.Add([]byte(lintHead + goodCFI))
	f.Add([]byte(lintHead + "FUNC 10 10 0 f\nINLINE 0 1 0 0 10 8\nINLINE 1 1 0 0 12 2\n10 8 0 0\n"))
	f.Add([]byte(lintHead + "STACK WIN 4 10 8 0 0 0 0 0 0 1 $T0 .raSearch = $eip $T0 ^ = $esp $T0 4 + =\n"))
	f.Add([]byte("MODULE Linux x86_64 0 a\nINFO GENERATOR symkit x\nPUBLIC ffffffffffffffff 0 a\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		rep, err := lint.File(data, report.Options{})
		if err != nil {
			if len(data) > 0 {
				t.Fatal(err)
			}
			return
		}
		n := bytes.Count(data, []byte("\n")) + 1
		for _, f := range rep.Findings {
			if f.Line > n || f.What == "" {
				t.Fatalf("%+v in %d lines", f, n)
			}
		}
		d, err := diff.Files(data, data, report.Options{})
		if err != nil || d.Total() > 0 {
			t.Fatalf("it differs from itself: %v, %+v", err, d.Findings)
		}
	})
}

// TestIDs: the id of MODULE is made of the build id, in the byte order of the file. Where it is not, or where neither
// determines the other, as on Windows, is told apart.
func TestIDs(t *testing.T) {
	const build = "36EF8C080D33B0B6458ECB87D5E20BD348D5C357"
	for text, wrong := range map[string]bool{
		"MODULE Linux x86_64 088CEF36330DB6B0458ECB87D5E20BD30 app\nINFO CODE_ID " + build + "\n":                        false,
		"MODULE Linux x86_64 088CEF36330DB6B0458ECB87D5E20BD30 app\nINFO CODE_ID 36ef8c080d33b0b6458ecb87d5e20bd3 app\n": false,
		"MODULE Linux ppc64 36EF8C080D33B0B6458ECB87D5E20BD30 app\nINFO CODE_ID " + build + "\n":                         false,
		"MODULE Linux x86_64 626D6F626F62626D00000000000000000 app\nINFO CODE_ID 626F6D62626F6D62\n":                     false,
		"MODULE Android arm64 088CEF36330DB6B0458ECB87D5E20BD40 app\nINFO CODE_ID " + build + "\n":                       true,
		"MODULE Linux x86_64 088CEF36330DB6B0458ECB87D5E20BD31 app\nINFO CODE_ID " + build + "\n":                        true,
		"MODULE windows x86_64 44E4EC8C2F41492B9369D6B9A059577C2 app.pdb\nINFO CODE_ID 5A49F5C1BEEF00000 app.dll\n":      false,
		"MODULE Linux x86_64 0123456789ABCDEF0 app\nINFO CODE_ID 01\n":                                                   false,
		"MODULE Linux x86_64 088CEF36330DB6B0458ECB87D5E20BD30 app\nINFO CODE_ID " + build[1:] + "\n":                    false,
	} {
		rep, err := lint.File([]byte(text), report.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := false
		for _, f := range rep.Findings {
			got = got || strings.Contains(f.What, "has this id: its id is 088CEF36330DB6B0458ECB87D5E20BD30")
		}
		if got != wrong {
			t.Errorf("%s: %v", text, rep.Findings)
		}
	}
}
