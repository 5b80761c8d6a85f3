package emit

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"symkit/internal/wire"

	"github.com/google/go-cmp/cmp"
)

// head makes a file in which the records under test can stand.
const head = "MODULE Linux x86 0 a\nFILE 0 a.c\nINLINE_ORIGIN 0 f\n"

// Every reason for which a line is rejected, with the position of the fault: «
// stands before the byte the error must name.
func TestReaderErrors(t *testing.T) {
	const fn = head + "FUNC 10 20 0 f\n"
	const cfi = head + "STACK CFI INIT 10 20 .cfa: x\n"
	long := strings.Repeat("a", MaxName+1)
	for _, test := range []struct {
		name, text string
		want       error
	}{
		{"empty file", "«", ErrOrder},
		{"no newline at the end", head + "FILE 1 b.c«", ErrUnterminated},
		{"only a keyword, no newline", "MODULE«", ErrUnterminated},
		{"empty line", head + "«\n", ErrMissing},
		{"leading space", head + "« FILE 1 b\n", ErrExtra},
		{"unknown record", head + "«HELLO 1\n", ErrRecord},
		{"lower-case keyword", head + "«func 1 2 0 f\n", ErrOrder}, // "f" begins a line record
		{"control character in a keyword", head + "FI«\x00LE 1 b\n", ErrText},
		{"long keyword", head + "«" + strings.Repeat("X", maxWord+1) + "\n", ErrTooLong},
		{"overlong line", head + "FILE 1 " + strings.Repeat("a", MaxLine-7) + "«a\n", ErrTooLong},
		{"CRLF", head + "FILE 1 b«\r\n", ErrText},

		{"MODULE records: not first", "«FILE 0 a\n", ErrOrder},
		{"MODULE records: after a line record", "«10 1 1 0\n", ErrOrder},
		{"MODULE records: second", head + "«MODULE Linux x86 0 a\n", ErrOrder},
		{"MODULE records: nothing", "MODULE«\n", ErrMissing},
		{"MODULE records: no id", "MODULE Linux x86«\n", ErrMissing},
		{"MODULE records: id", "MODULE Linux x86 «0x1 a\n", ErrNumber},
		{"MODULE records: two spaces", "MODULE Linux « x86 0 a\n", ErrExtra},
		{"MODULE records: no name", "MODULE Linux x86 0«\n", ErrMissing},
		{"MODULE records: empty name", "MODULE Linux x86 0 «\n", ErrMissing},
		{"INFO: no key", head + "INFO«\n", ErrMissing},
		{"INFO: trailing space", head + "INFO A «\n", ErrMissing},
		{"INFO: text", head + "INFO A b«\x01\n", ErrText},

		{"FILE records: nothing", head + "FILE«\n", ErrMissing},
		{"FILE records: number", head + "FILE 1«a b\n", ErrNumber},
		{"FILE records: hex", head + "FILE «a b\n", ErrNumber},
		{"FILE records: negative", head + "FILE «-1 b\n", ErrNumber},
		{"FILE records: above MaxNumber", head + "FILE «2147483648 b\n", ErrRange},
		{"FILE records: wraps", head + "FILE «18446744073709551616 b\n", ErrRange},
		{"FILE records: no name", head + "FILE 1«\n", ErrMissing},
		{"FILE records: two spaces", head + "FILE 1 « b\n", ErrExtra},
		{"FILE records: trailing space", head + "FILE 1 b« \n", ErrExtra},
		{"FILE records: invalid UTF-8", head + "FILE 1 größe«\xff\n", ErrText},
		{"FILE records: C1 control", head + "FILE 1 b«\u0085\n", ErrText},
		{"FILE records: long name", head + "FILE 1 «" + long + "\n", ErrTooLong},
		{"INLINE_ORIGIN records: old form", head + "INLINE_ORIGIN 1 «0 f\n", ErrOldForm},
		{"INLINE_ORIGIN records: old form without file", head + "INLINE_ORIGIN 1 «-1 f\n", ErrOldForm},
		{"INLINE_ORIGIN records: no name", head + "INLINE_ORIGIN 1«\n", ErrMissing},

		{"FUNC records: nothing", head + "FUNC«\n", ErrMissing},
		{"FUNC records: only m", head + "FUNC m«\n", ErrMissing},
		{"FUNC records: not m", head + "FUNC «mm 1 2 0 f\n", ErrNumber},
		{"FUNC records: prefix", head + "FUNC 0«x1 2 0 f\n", ErrNumber},
		{"FUNC records: upper case", head + "FUNC a«A 2 0 f\n", ErrNumber},
		{"FUNC records: two spaces", head + "FUNC 1 « 2 0 f\n", ErrExtra},
		{"FUNC records: 17 digits", head + "FUNC «00000000000000001 2 0 f\n", ErrRange},
		{"FUNC records: size of 9 digits", head + "FUNC 1 «100000000 0 f\n", ErrRange},
		{"FUNC records: parameter size of 9 digits", head + "FUNC 1 2 «100000000 f\n", ErrRange},
		{"FUNC records: wraps", head + "FUNC «ffffffffffffffff 1 0 f\n", ErrRange},
		{"FUNC records: no name", head + "FUNC 1 2 0«\n", ErrMissing},
		{"Line records: before FUNC", head + "«10 1 1 0\n", ErrOrder},
		{"Line records: after PUBLIC", fn + "PUBLIC 9 0 p\n«10 1 1 0\n", ErrOrder},
		{"Line records: after INFO", fn + "INFO A\n«10 1 1 0\n", ErrOrder},
		{"Line records: short", fn + "10 1 1«\n", ErrMissing},
		{"Line records: trailing space", fn + "10 1 1 0 «\n", ErrExtra},
		{"Line records: fifth field", fn + "10 1 1 0 «0\n", ErrExtra},
		{"Line records: line", fn + "10 1 «a 0\n", ErrNumber},
		{"Line records: file", fn + "10 1 1 «1\n", ErrReference},
		{"Line records: no file", fn + "10 1 1 «-1\n", ErrNumber},
		{"Line records: wraps", fn + "«ffffffffffffffff 1 1 0\n", ErrRange},
		{"INLINE records: before FUNC", head + "«INLINE 0 1 0 0 10 1\n", ErrOrder},
		{"INLINE records: after STACK CFI", fn + "STACK CFI INIT 1 1 a: b\n«INLINE 0 1 0 0 10 1\n", ErrOrder},
		{"INLINE records: no file", fn + "INLINE 0 1 «-1 0 10 1\n", ErrNumber},
		{"INLINE records: file", fn + "INLINE 0 1 «7 0 10 1\n", ErrReference},
		{"INLINE records: origin", fn + "INLINE 0 1 0 «7 10 1\n", ErrReference},
		{"INLINE records: no range", fn + "INLINE 0 1 0 0«\n", ErrMissing},
		{"INLINE records: half a range", fn + "INLINE 0 1 0 0 10«\n", ErrMissing},
		{"INLINE records: half a second range", fn + "INLINE 0 1 0 0 10 1 12«\n", ErrMissing},
		{"INLINE records: 255 ranges", fn + "INLINE 0 1 0 0" + strings.Repeat(" 10 1", 254) + " «10 1\n", ErrTooLong},

		{"PUBLIC records: address", head + "PUBLIC «x 0 p\n", ErrNumber},
		{"PUBLIC records: no name", head + "PUBLIC m 1 0«\n", ErrMissing},
		{"STACK: nothing", head + "STACK«\n", ErrMissing},
		{"STACK: unknown", head + "STACK «CFG 1\n", ErrRecord},
		{"STACK WIN records: short", head + "STACK WIN 4 2170 14 1 0 0 0 0 0«\n", ErrMissing},
		{"STACK WIN records: flag", head + "STACK WIN 4 2170 14 1 0 0 0 0 0 «2 a\n", ErrRange},
		{"STACK WIN records: no program", head + "STACK WIN 4 2170 14 1 0 0 0 0 0 1«\n", ErrMissing},
		{"STACK WIN records: allocates_base_pointer", head + "STACK WIN 0 2170 14 1 0 0 0 0 0 0 «$\n", ErrNumber},
		{"STACK WIN records: extra", head + "STACK WIN 0 2170 14 1 0 0 0 0 0 0 1 «1\n", ErrExtra},
		{"STACK WIN records: wraps", head + "STACK WIN 0 «ffffffffffffffff 1 1 0 0 0 0 0 0 1\n", ErrRange},
		{"STACK CFI records: before INIT", head + "«STACK CFI 10 .cfa: x\n", ErrOrder},
		{"STACK CFI records: after PUBLIC", cfi + "PUBLIC 1 0 p\n«STACK CFI 11 .cfa: x\n", ErrOrder},
		{"STACK CFI records: at INIT", cfi + "STACK CFI «10 .cfa: x\n", ErrOrder},
		{"STACK CFI records: below INIT", cfi + "STACK CFI «f .cfa: x\n", ErrOrder},
		{"STACK CFI records: at the end", cfi + "STACK CFI «30 .cfa: x\n", ErrOrder},
		{"STACK CFI records: same address", cfi + "STACK CFI 11 .cfa: x\nSTACK CFI «11 .cfa: x\n", ErrOrder},
		{"STACK CFI records: INIT at the top", head + "STACK CFI INIT ffffffffffffffff 0 a: b\nSTACK CFI «0 a: b\n", ErrOrder},
		{"STACK CFI records: nothing", cfi + "STACK CFI«\n", ErrMissing},
		{"STACK CFI records: no rules", cfi + "STACK CFI 11«\n", ErrMissing},
		{"STACK CFI records: empty rules", cfi + "STACK CFI 11 «\n", ErrMissing},
		{"STACK CFI records: INIT without rules", head + "STACK CFI INIT 10 20«\n", ErrMissing},
		{"STACK CFI records: INIT misspelt", head + "STACK CFI «INITX 10 20 a: b\n", ErrNumber},
		{"STACK CFI records: size", head + "STACK CFI INIT 10 «100000000 a: b\n", ErrRange},
		{"STACK CFI records: rules", cfi + "STACK CFI 11 .cfa: «.ra: b\n", ErrRules},
		{"STACK CFI records: long rules", cfi + "STACK CFI 11 «a: " + long + "\n", ErrTooLong},
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
		we, ok := errors.AsType[*wire.Error](errs[0])
		le, ok2 := errors.AsType[*LineError](errs[0])
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
			e, ok := errors.AsType[*wire.Error](err)
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
