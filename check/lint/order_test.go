package lint_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"symkit/check/internal/checks"
	"symkit/check/lint"
	"symkit/check/report"
)

func TestOrder(t *testing.T) {
	const head = "MODULE Linux x86_64 0123456789ABCDEF0 app\n"
	for _, class := range []struct{ name, format string }{
		{"FILE", "FILE %d a.c\n"},
		{"INLINE_ORIGIN", "INLINE_ORIGIN %d f\n"},
		{"FUNC", "FUNC %x 1 0 f\n"},
		{"PUBLIC", "PUBLIC %x 0 f\n"},
		{"line", "%x 1 1 0\n"},
	} {
		records := make([]string, 0, 20)
		for i := range 20 {
			records = append(records, fmt.Sprintf(class.format, i))
		}
		before := head
		if class.name == "line" {
			before += "FILE 0 a.c\nFUNC 0 20 0 f\n"
		}
		count := func(lines ...string) uint64 {
			rep, err := lint.File([]byte(before+strings.Join(lines, "")), report.Options{})
			if err != nil {
				t.Fatal(err)
			}
			return rep.Check(checks.Order).Findings
		}
		if n := count(records...); n != 0 {
			t.Errorf("%s: in order: %d findings", class.name, n)
		}
		swapped := slices.Clone(records)
		swapped[7], swapped[8] = swapped[8], swapped[7]
		if n := count(swapped...); n != 1 {
			t.Errorf("%s: two swapped: %d findings", class.name, n)
		}
		slices.Reverse(records)
		if n := count(records...); n != 0 {
			t.Errorf("%s: in no order: %d findings", class.name, n)
		}
		if n := count(swapped[7:9]...); n != 0 {
			t.Errorf("%s: two only: %d findings", class.name, n)
		}
	}
}
