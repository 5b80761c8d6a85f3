package diff_test

import (
	"fmt"
	"strings"
	"testing"

	"symkit/check/diff"
	"symkit/check/report"
)

// TestChanges: what differs in each function. A function that only moved is no different.
func TestChanges(t *testing.T) {
	const head = "MODULE Linux x86_64 0123456789ABCDEF0 app\nFILE 0 /src/a.c\nFILE 1 /src/b.c\nINLINE_ORIGIN 0 in\n"
	const f = "FUNC 10 20 0 f\nINLINE 0 7 0 0 12 8\n10 10 1 0\n20 10 2 1\n"
	const rules = "STACK CFI INIT 10 20 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n"
	for _, c := range []struct{ name, a, b, want string }{
		{"equal", f, f, ""},
		{"other numbers of lines", f, strings.Replace(f, "10 10 1 0", "10 8 1 0\n18 8 1 0", 1), ""},
		{"line", f, strings.Replace(f, "20 10 2 1", "20 10 3 1", 1), "changed f lines 16: +0x10 to +0x20: /src/b.c:2, now /src/b.c:3"},
		{"lost line", f, strings.Replace(f, "20 10 2 1\n", "", 1), "changed f lines 16: +0x10 to +0x20: /src/b.c:2, now no line"},
		{"call", f, strings.Replace(f, "INLINE 0 7", "INLINE 0 8", 1), "changed f inlines 8: +0x2 to +0xa: in called from /src/a.c:7, now in called from /src/a.c:8"},
		{"size", f, strings.Replace(f, "FUNC 10 20", "FUNC 10 24", 1), "changed f"},
		{"name", f, strings.Replace(f, " f\n", " g\n", 1), "changed g was f"},
		{"removed", f + "FUNC 90 5 0 g\n", f, "removed g"},
		{"added", f, f + "FUNC 90 5 0 g\n", "added g"},
		{"moved", f, "FUNC 50 20 0 f\nINLINE 0 7 0 0 52 8\n50 10 1 0\n60 10 2 1\n", "moved f"},
		{"moved to where another was", f + "FUNC 50 20 0 g\n", "FUNC 50 20 0 f\nINLINE 0 7 0 0 52 8\n50 10 1 0\n60 10 2 1\nFUNC 90 20 0 g\n", "moved f\nmoved g"},
		{"names that are there twice", "FUNC 10 8 0 f\nFUNC 20 8 0 f\n", "FUNC 10 8 0 f\nFUNC 30 8 0 f\nFUNC 40 8 0 f\n", "moved f\nadded f"},
		{"moved and changed", f, "FUNC 50 20 0 f\nINLINE 0 7 0 0 52 8\n50 10 1 0\n60 10 9 1\n", "changed f lines 16: +0x10 to +0x20: /src/b.c:2, now /src/b.c:9"},
		{"rules", f + rules, f + strings.Replace(rules, "$rsp 8", "$rsp 16", 1), "changed f rules 32"},
		{"no rules", f + rules, f + strings.Replace(rules, "10 20", "10 18", 1), "changed f rules 8"},
	} {
		rep, err := diff.Files([]byte(head+c.a), []byte(head+c.b), report.Options{Map: true})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, x := range rep.Changes {
			var text strings.Builder
			text.WriteString(x.Kind + " " + x.Name)
			for _, n := range []struct {
				word string
				n    uint64
			}{{"lines", x.Lines}, {"inlines", x.Inlines}, {"rules", x.Rules}} {
				if n.n > 0 {
					text.WriteString(fmt.Sprintf(" %s %d", n.word, n.n))
				}
			}
			if x.OldName != "" {
				text.WriteString(" was " + x.OldName)
			}
			if len(x.First) > 0 && x.Rules == 0 {
				text.WriteString(": " + strings.Join(x.First, "; "))
			}
			got = append(got, text.String())
		}
		if text := strings.Join(got, "\n"); text != c.want {
			t.Errorf("%s: %q, want %q", c.name, text, c.want)
		}
	}
}
