package emit

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"symkit/located"
)

// head makes a file in which the records under test can stand.
const head = "MODULE Linux x86 0 a\nFILE 0 a.c\nINLINE_ORIGIN 0 f\n"

// Every reason for which a line is rejected, with the position of the fault: «
// stands before the byte the error must name.
func TestReaderErrors(t *testing.T) {
	const fn = head + "FUNC 10 20 0 f\n"
	const cfi = head + "STACK CFI INIT 10 20 .cfa: x\n"
	long := strings.Repeat("a", maxName+1)
	for _, test := range []struct {
		name, text string
		want       error
	}{
		{"empty file", "«", errOrder},
		{"no newline at the end", head + "FILE 1 b.c«", errUnterminated},
		{"only a keyword, no newline", "MODULE«", errUnterminated},
		{"empty line", head + "«\n", errMissing},
		{"leading space", head + "« FILE 1 b\n", errExtra},
		{"unknown record", head + "«HELLO 1\n", errRecord},
		{"lower-case keyword", head + "«func 1 2 0 f\n", errOrder}, // "f" begins a line record
		{"control character in a keyword", head + "FI«\x00LE 1 b\n", errText},
		{"long keyword", head + "«" + strings.Repeat("X", maxWord+1) + "\n", errTooLong},
		{"overlong line", head + "FILE 1 " + strings.Repeat("a", maxLine-7) + "«a\n", errTooLong},
		{"CRLF", head + "FILE 1 b«\r\n", errText},

		{"MODULE records: not first", "«FILE 0 a\n", errOrder},
		{"MODULE records: after a line record", "«10 1 1 0\n", errOrder},
		{"MODULE records: second", head + "«MODULE Linux x86 0 a\n", errOrder},
		{"MODULE records: nothing", "MODULE«\n", errMissing},
		{"MODULE records: no id", "MODULE Linux x86«\n", errMissing},
		{"MODULE records: id", "MODULE Linux x86 «0x1 a\n", errNumber},
		{"MODULE records: two spaces", "MODULE Linux « x86 0 a\n", errExtra},
		{"MODULE records: no name", "MODULE Linux x86 0«\n", errMissing},
		{"MODULE records: empty name", "MODULE Linux x86 0 «\n", errMissing},
		{"INFO: no key", head + "INFO«\n", errMissing},
		{"INFO: trailing space", head + "INFO A «\n", errMissing},
		{"INFO: text", head + "INFO A b«\x01\n", errText},

		{"FILE records: nothing", head + "FILE«\n", errMissing},
		{"FILE records: number", head + "FILE 1«a b\n", errNumber},
		{"FILE records: hex", head + "FILE «a b\n", errNumber},
		{"FILE records: negative", head + "FILE «-1 b\n", errNumber},
		{"FILE records: above MaxNumber", head + "FILE «2147483648 b\n", errRange},
		{"FILE records: wraps", head + "FILE «18446744073709551616 b\n", errRange},
		{"FILE records: no name", head + "FILE 1«\n", errMissing},
		{"FILE records: two spaces", head + "FILE 1 « b\n", errExtra},
		{"FILE records: trailing space", head + "FILE 1 b« \n", errExtra},
		{"FILE records: invalid UTF-8", head + "FILE 1 größe«\xff\n", errText},
		{"FILE records: C1 control", head + "FILE 1 b«\u0085\n", errText},
		{"FILE records: long name", head + "FILE 1 «" + long + "\n", errTooLong},
		{"INLINE_ORIGIN records: old form", head + "INLINE_ORIGIN 1 «0 f\n", errOldForm},
		{"INLINE_ORIGIN records: old form without file", head + "INLINE_ORIGIN 1 «-1 f\n", errOldForm},
		{"INLINE_ORIGIN records: no name", head + "INLINE_ORIGIN 1«\n", errMissing},

		{"FUNC records: nothing", head + "FUNC«\n", errMissing},
		{"FUNC records: only m", head + "FUNC m«\n", errMissing},
		{"FUNC records: not m", head + "FUNC «mm 1 2 0 f\n", errNumber},
		{"FUNC records: prefix", head + "FUNC 0«x1 2 0 f\n", errNumber},
		{"FUNC records: upper case", head + "FUNC a«A 2 0 f\n", errNumber},
		{"FUNC records: two spaces", head + "FUNC 1 « 2 0 f\n", errExtra},
		{"FUNC records: 17 digits", head + "FUNC «00000000000000001 2 0 f\n", errRange},
		{"FUNC records: size of 9 digits", head + "FUNC 1 «100000000 0 f\n", errRange},
		{"FUNC records: parameter size of 9 digits", head + "FUNC 1 2 «100000000 f\n", errRange},
		{"FUNC records: wraps", head + "FUNC «ffffffffffffffff 1 0 f\n", errRange},
		{"FUNC records: no name", head + "FUNC 1 2 0«\n", errMissing},
		{"Line records: before FUNC", head + "«10 1 1 0\n", errOrder},
		{"Line records: after PUBLIC", fn + "PUBLIC 9 0 p\n«10 1 1 0\n", errOrder},
		{"Line records: after INFO", fn + "INFO A\n«10 1 1 0\n", errOrder},
		{"Line records: short", fn + "10 1 1«\n", errMissing},
		{"Line records: trailing space", fn + "10 1 1 0 «\n", errExtra},
		{"Line records: fifth field", fn + "10 1 1 0 «0\n", errExtra},
		{"Line records: line", fn + "10 1 «a 0\n", errNumber},
		{"Line records: file", fn + "10 1 1 «1\n", errReference},
		{"Line records: no file", fn + "10 1 1 «-1\n", errNumber},
		{"Line records: wraps", fn + "«ffffffffffffffff 1 1 0\n", errRange},
		{"INLINE records: before FUNC", head + "«INLINE 0 1 0 0 10 1\n", errOrder},
		{"INLINE records: after STACK CFI", fn + "STACK CFI INIT 1 1 a: b\n«INLINE 0 1 0 0 10 1\n", errOrder},
		{"INLINE records: no file", fn + "INLINE 0 1 «-1 0 10 1\n", errNumber},
		{"INLINE records: file", fn + "INLINE 0 1 «7 0 10 1\n", errReference},
		{"INLINE records: origin", fn + "INLINE 0 1 0 «7 10 1\n", errReference},
		{"INLINE records: no range", fn + "INLINE 0 1 0 0«\n", errMissing},
		{"INLINE records: half a range", fn + "INLINE 0 1 0 0 10«\n", errMissing},
		{"INLINE records: half a second range", fn + "INLINE 0 1 0 0 10 1 12«\n", errMissing},
		{"INLINE records: 255 ranges", fn + "INLINE 0 1 0 0" + strings.Repeat(" 10 1", 254) + " «10 1\n", errTooLong},

		{"PUBLIC records: address", head + "PUBLIC «x 0 p\n", errNumber},
		{"PUBLIC records: no name", head + "PUBLIC m 1 0«\n", errMissing},
		{"STACK: nothing", head + "STACK«\n", errMissing},
		{"STACK: unknown", head + "STACK «CFG 1\n", errRecord},
		{"STACK WIN records: short", head + "STACK WIN 4 2170 14 1 0 0 0 0 0«\n", errMissing},
		{"STACK WIN records: flag", head + "STACK WIN 4 2170 14 1 0 0 0 0 0 «2 a\n", errRange},
		{"STACK WIN records: no program", head + "STACK WIN 4 2170 14 1 0 0 0 0 0 1«\n", errMissing},
		{"STACK WIN records: allocates_base_pointer", head + "STACK WIN 0 2170 14 1 0 0 0 0 0 0 «$\n", errNumber},
		{"STACK WIN records: extra", head + "STACK WIN 0 2170 14 1 0 0 0 0 0 0 1 «1\n", errExtra},
		{"STACK WIN records: wraps", head + "STACK WIN 0 «ffffffffffffffff 1 1 0 0 0 0 0 0 1\n", errRange},
		{"STACK CFI records: before INIT", head + "«STACK CFI 10 .cfa: x\n", errOrder},
		{"STACK CFI records: after PUBLIC", cfi + "PUBLIC 1 0 p\n«STACK CFI 11 .cfa: x\n", errOrder},
		{"STACK CFI records: at INIT", cfi + "STACK CFI «10 .cfa: x\n", errOrder},
		{"STACK CFI records: below INIT", cfi + "STACK CFI «f .cfa: x\n", errOrder},
		{"STACK CFI records: at the end", cfi + "STACK CFI «30 .cfa: x\n", errOrder},
		{"STACK CFI records: same address", cfi + "STACK CFI 11 .cfa: x\nSTACK CFI «11 .cfa: x\n", errOrder},
		{"STACK CFI records: INIT at the top", head + "STACK CFI INIT ffffffffffffffff 0 a: b\nSTACK CFI «0 a: b\n", errOrder},
		{"STACK CFI records: nothing", cfi + "STACK CFI«\n", errMissing},
		{"STACK CFI records: no rules", cfi + "STACK CFI 11«\n", errMissing},
		{"STACK CFI records: empty rules", cfi + "STACK CFI 11 «\n", errMissing},
		{"STACK CFI records: INIT without rules", head + "STACK CFI INIT 10 20«\n", errMissing},
		{"STACK CFI records: INIT misspelt", head + "STACK CFI «INITX 10 20 a: b\n", errNumber},
		{"STACK CFI records: size", head + "STACK CFI INIT 10 «100000000 a: b\n", errRange},
		{"STACK CFI records: rules", cfi + "STACK CFI 11 .cfa: «.ra: b\n", errRules},
		{"STACK CFI records: long rules", cfi + "STACK CFI 11 «a: " + long + "\n", errTooLong},
	} {
		at := strings.Index(test.text, "«")
		text := strings.Replace(test.text, "«", "", 1)
		var errs []error
		for _, err := range NewReader([]byte(text)).Records() {
			if err != nil {
				errs = append(errs, err)
			}
		}
		if len(errs) != 1 {
			t.Errorf("%s: %d errors: %v", test.name, len(errs), errs)
			continue
		}
		we, ok := errors.AsType[*located.Error](errs[0])
		le, ok2 := errors.AsType[*lineError](errs[0])
		if !ok || !ok2 || !errors.Is(errs[0], test.want) || we.Offset != at || we.Section != "symbols" ||
			le.Line != strings.Count(text[:at], "\n")+1 {
			t.Errorf("%s: got %v, want %v at %#x", test.name, errs[0], test.want, at)
		}
	}
}

// A line that is wrong loses itself; a FUNC or INIT does not take its lines
// along.
func TestReaderGoesOn(t *testing.T) {
	text := head + "FUNC 10 20 f\n10 1 1 0\nHELLO\n12 1 1 0\nSTACK CFI INIT 10 20\nSTACK CFI 11 a: b\nPUBLIC 1 0 p\n"
	r := NewReader([]byte(text))
	var got []string
	for rec, err := range r.Records() {
		if err != nil {
			got = append(got, err.Error())
		} else {
			got = append(got, string(rec.Append(nil)))
		}
		if line := strings.Split(text, "\n")[r.Line()-1]; !strings.HasPrefix(text[r.Offset():], line) {
			t.Errorf("line %d is not at %#x", r.Line(), r.Offset())
		}
	}
	want := []string{"MODULE Linux x86 0 a\n", "FILE 0 a.c\n", "INLINE_ORIGIN 0 f\n",
		"symbols+0x3e: line 4: missing field", "10 1 1 0\n",
		"symbols+0x48: line 6: unknown record", "12 1 1 0\n",
		"symbols+0x6b: line 8: missing field", "STACK CFI 11 a: b\n", "PUBLIC 1 0 p\n"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// A consumer may stop at any record, and start again.
func TestReaderStops(t *testing.T) {
	r := NewReader([]byte(head + "X\nY\n"))
	for n := 1; n < 5; n++ {
		seen := 0
		for range r.Records() {
			if seen++; seen == n {
				break
			}
		}
		if seen != n || r.Line() != n {
			t.Errorf("stopped at %d, line %d, want %d", seen, r.Line(), n)
		}
	}
}

// File numbers need not rise from 0; a number may be given twice.
func TestReaderNumbers(t *testing.T) {
	text := "MODULE Linux x86 0 a\nFILE 9 a\nFILE 0 b\nFILE 1 c\nFILE 1 d\nFUNC 10 20 0 f\n" +
		"10 1 1 0\n11 1 1 1\n12 1 1 9\n"
	readAll(t, []byte(text))
}

// FuzzReader: an error has a place in the text; what is read and written
// again reads the same.
func FuzzReader(f *testing.F) {
	f.Add(string(appendAll(every())))
	f.Add(head + "FUNC 10 20 f\n10 1 1 0\nHELLO\n")
	f.Add(head + "STACK CFI INIT 10 20 a: b\nSTACK CFI 11 a: b c: d\n")
	f.Fuzz(func(t *testing.T, text string) {
		var good []byte // the lines without an error
		var recs []Record
		r := NewReader([]byte(text))
		at := -1
		for rec, err := range r.Records() {
			if r.Offset() <= at {
				t.Fatalf("line at %#x after one at %#x", r.Offset(), at)
			}
			at = r.Offset()
			if err == nil {
				good = rec.Append(good)
				recs = append(recs, clone(rec))
				continue
			}
			e, ok := errors.AsType[*located.Error](err)
			if !ok || rec != nil || e.Offset < r.Offset() || e.Offset > len(text) {
				t.Fatalf("error without a place: %v", err)
			}
		}
		lines, i := NewReader(good), 0
		for rec, err := range lines.Records() {
			if err != nil {
				// Only where a line above was lost may the order be wrong.
				if len(recs) > 0 && at >= 0 && bytes.Count([]byte(text), []byte("\n")) == len(recs) {
					t.Fatalf("%v in %q, written again %q", err, text, good)
				}
				return
			}
			if i >= len(recs) || !cmp.Equal(recs[i], clone(rec)) {
				t.Fatalf("record %d of %q differs, written again %q", i, text, good)
			}
			i++
		}
		if i != len(recs) {
			t.Fatalf("%d of %d records read again of %q", i, len(recs), text)
		}
	})
}
