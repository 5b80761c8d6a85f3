package rank

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// head begins the files of the tests.
const head = "MODULE Linux x86_64 0123456789ABCDEF0 app\nFILE 0 a.c\nFILE 1 b.c\nINLINE_ORIGIN 0 f\n"

// of returns the Rank of a text after head.
func of(t testing.TB, text string) Rank {
	t.Helper()
	r, err := Of(t.Context(), []byte(head+text))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestOf: each byte counts once, records outside of their FUNC do not count, nor does it matter how a tool cuts rows
// and calls into records, or in which order records are.
func TestOf(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       Rank
	}{
		{"nothing", "", Rank{}},
		{"a function", "FUNC 10 20 0 f\n", Rank{FunctionBytes: 32, NamedBytes: 32}},
		{"no names", "FUNC 10 20 0 <name omitted>\nFUNC 40 2 0 ??\n", Rank{FunctionBytes: 34}},
		{"overlaps", "FUNC 10 20 0 f\nFUNC 20 20 0 g\nFUNC 10 8 0 h\n", Rank{FunctionBytes: 48, NamedBytes: 48}},
		{"in no order", "FUNC 40 20 0 f\nFUNC 10 20 0 g\nFUNC 30 10 0 h\n", Rank{FunctionBytes: 80, NamedBytes: 80}},
		{"lines", "FUNC 10 20 0 f\n10 8 1 0\n18 8 2 0\n20 10 0 0\n", Rank{FunctionBytes: 32, NamedBytes: 32, LineBytes: 16, LineRows: 2}},
		{"rows that are cut", "FUNC 10 20 0 f\n10 8 1 0\n18 8 1 0\n20 8 1 1\n", Rank{FunctionBytes: 32, NamedBytes: 32, LineBytes: 24, LineRows: 2}},
		{"a gap between rows", "FUNC 10 20 0 f\n10 8 1 0\n20 8 1 0\n", Rank{FunctionBytes: 32, NamedBytes: 32, LineBytes: 16, LineRows: 2}},
		{"lines twice", "FUNC 10 20 0 f\n10 8 1 0\n10 8 1 0\n", Rank{FunctionBytes: 32, NamedBytes: 32, LineBytes: 8, LineRows: 2}},
		{"lines outside", "FUNC 10 20 0 f\n8 8 1 0\n30 8 2 0\n2c 8 3 0\n", Rank{FunctionBytes: 32, NamedBytes: 32, LineBytes: 4, LineRows: 1}},
		{"calls", "FUNC 10 20 0 f\nINLINE 0 1 0 0 10 8 20 4\nINLINE 1 1 0 0 12 2\n", Rank{FunctionBytes: 32, NamedBytes: 32, InlineBytes: 12, InlineRanges: 3}},
		{"calls that are cut", "FUNC 10 20 0 f\nINLINE 0 1 0 0 10 8 18 4\n", Rank{FunctionBytes: 32, NamedBytes: 32, InlineBytes: 12, InlineRanges: 1}},
		{"calls outside", "FUNC 10 20 0 f\nINLINE 0 1 0 0 40 8 2c 8 0 4\n", Rank{FunctionBytes: 32, NamedBytes: 32, InlineBytes: 4, InlineRanges: 1}},
		{"rules", "STACK CFI INIT 10 20 .cfa: $rsp 8 + .ra: .cfa -8 + ^\nSTACK CFI 14 .cfa: $rsp 16 +\nSTACK CFI INIT 18 8 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n", Rank{RuleBytes: 32}},
		{"frame data", "STACK WIN 4 2170 14 1 0 0 0 0 0 1 a\nSTACK WIN 0 2170 14 1 0 0 0 0 0 0 1\n", Rank{RuleBytes: 20}},
		{"publics", "PUBLIC 50 0 a\nPUBLIC 40 0 b\nPUBLIC 50 0 c\nPUBLIC 18 0 d\nFUNC 10 20 0 f\n", Rank{FunctionBytes: 32, NamedBytes: 32, Publics: 2}},
		{"damage", "FUNC 10 20 0 f\nFUNC x\n10 8 1 0\nNO\n18 4 1 7\n", Rank{FunctionBytes: 32, NamedBytes: 32, LineBytes: 8, LineRows: 1}},
		{"the top", "FUNC ffffffffffffff00 10 0 f\nffffffffffffff00 8 1 0\n", Rank{FunctionBytes: 16, NamedBytes: 16, LineBytes: 8, LineRows: 1}},
	} {
		if got := of(t, test.text); got != test.want {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		}
	}
}

// TestOfErrors: what is no symbol file, and a call that is ended.
func TestOfErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                      "not a symbol file: symbols+0x0: line 1: record out of place",
		"FUNC 10 20 0 f\n":      "not a symbol file: symbols+0x0: line 1: record out of place",
		"MODULE Linux x86_64\n": "not a symbol file: symbols+0x13: line 1: missing field",
	} {
		_, err := Of(t.Context(), []byte(text))
		if err == nil || err.Error() != want {
			t.Errorf("%q: %v", text, err)
		}
	}
	ended := errors.New("ended")
	ctx, end := context.WithCancelCause(t.Context())
	end(ended)
	_, err := Of(ctx, []byte(head+strings.Repeat("PUBLIC 10 0 f\n", 2*checkEvery)))
	if err != ended {
		t.Error(err)
	}
}

// TestCompare: what decides between the files that servers get, and how this is said.
func TestCompare(t *testing.T) {
	const mb = 1e6
	whole := Rank{1.2 * mb, 1.2 * mb, 1.19 * mb, 300_000, 0, 0, 1.21 * mb, 100}
	with := func(change func(*Rank)) Rank {
		r := whole
		change(&r)
		return r
	}
	for _, test := range []struct {
		name string
		r, o Rank
		sign int
		why  string
	}{
		{"the same", whole, whole, 0, "neither file has more functions, lines, inlined calls, unwind rules or symbols than the other one"},
		{"of a stripped file, with code of assemblers", with(func(r *Rank) { *r = Rank{FunctionBytes: 1.25 * mb, NamedBytes: 1.25 * mb, RuleBytes: 1.21 * mb} }), whole, -1,
			"the other file has lines for 1.19 MB of 1.25 MB of code, this one for 0 bytes, although this one has more functions"},
		{"of a debug file, without rules", with(func(r *Rank) { r.RuleBytes = 0 }), Rank{RuleBytes: 1.21 * mb, Publics: 900}, 1,
			"this file has functions for 1.2 MB of code, the other one for 0 bytes, although the other one has more unwind rules"},
		{"with inlined calls", with(func(r *Rank) { r.InlineBytes, r.InlineRanges = 0.5*mb, 70_000 }), whole, 1,
			"this file has inlined calls in 500 kB of 1.2 MB of code, the other one in 0 bytes"},
		{"a tenth of the functions lost, with inlined calls", with(func(r *Rank) {
			*r = Rank{1.08 * mb, 1.08 * mb, 1.07 * mb, 270_000, 0.5 * mb, 70_000, 1.21 * mb, 100}
		}), whole, -1, "the other file has functions for 1.2 MB of code, this one for 1.08 MB, although this one has more inlined calls"},
		{"calls without rules", with(func(r *Rank) { r.InlineBytes, r.InlineRanges, r.RuleBytes = 0.9*mb, 90_000, 0 }), whole, -1,
			"the other file has unwind rules for 1.21 MB of code, this one for 0 bytes, although this one has more inlined calls"},
		{"one line a function", with(func(r *Rank) { r.LineRows = 4000 }), whole, -1, "the other file has 300,000 rows of lines, this one 4,000"},
		{"nested calls lost", with(func(r *Rank) { r.InlineBytes, r.InlineRanges = 100, 9 }), with(func(r *Rank) { r.InlineBytes, r.InlineRanges = 100, 4 }), 1,
			"this file has 9 stretches of inlined calls, the other one 4"},
		{"names lost", whole, with(func(r *Rank) { r.NamedBytes = 0 }), 1, "this file has names of functions for 1.2 MB of 1.2 MB of code, the other one for 0 bytes"},
		{"a symbol", with(func(r *Rank) { r.Publics++ }), whole, 1, "this file has 101 symbols outside of functions, the other one 100"},
		{"bytes", with(func(r *Rank) { r.LineBytes-- }), whole, -1, "the other file has lines for 1,190,000 bytes of 1.2 MB of code, this one for 1,189,999 bytes"},
		{"equal points", Rank{FunctionBytes: 4, NamedBytes: 4}, Rank{LineRows: 16}, 1,
			"this file has functions for 4 bytes of code, the other one for 0 bytes, although the other one has more lines"},
	} {
		if sign, why := test.r.Compare(test.o); sign != test.sign || why != test.why {
			t.Errorf("%s: %d, %s", test.name, sign, why)
		}
	}
}

// TestCompareOrder: the order is one, whichever files are compared first.
func TestCompareOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	figure := func() uint64 { return random.Uint64N(4) << random.Uint64N(63) }
	ranks := make([]Rank, 40)
	for i := range ranks {
		ranks[i] = Rank{figure(), figure(), figure(), figure(), figure(), figure(), figure(), figure()}
	}
	for _, a := range ranks {
		for _, b := range ranks {
			ab, why := a.Compare(b)
			ba, _ := b.Compare(a)
			if ab != -ba || why == "" {
				t.Fatalf("%+v, %+v: %d and %d", a, b, ab, ba)
			}
			for _, c := range ranks {
				bc, _ := b.Compare(c)
				ac, _ := a.Compare(c)
				if ab >= 0 && bc >= 0 && ac < 0 || ab > 0 && bc >= 0 && ac <= 0 {
					t.Fatalf("%+v, %+v, %+v: %d, %d, %d", a, b, c, ab, bc, ac)
				}
			}
		}
	}
}

// TestJSON: the names of the figures are what journals of servers have.
func TestJSON(t *testing.T) {
	text, err := json.Marshal(Rank{1, 2, 3, 4, 5, 6, 7, 8})
	const want = `{"function_bytes":1,"named_bytes":2,"line_bytes":3,"line_rows":4,"inline_bytes":5,"inline_ranges":6,"rule_bytes":7,"publics":8}`
	if err != nil || string(text) != want {
		t.Errorf("%s, %v", text, err)
	}
}

// TestOfAllocations: the memory does not grow with the records of a file in order.
func TestOfAllocations(t *testing.T) {
	var b strings.Builder
	b.WriteString(head)
	for i := range 10_000 {
		at := 0x1000 + 16*i
		fmt.Fprintf(&b, "FUNC %x 10 0 f%d\nINLINE 0 1 0 0 %x 4\n%x 8 %d 0\n%x 8 %d 0\n", at, i, at, at, i+1, at+8, i+2)
	}
	text := []byte(b.String())
	allocs := testing.AllocsPerRun(5, func() {
		_, err := Of(t.Context(), text)
		if err != nil {
			t.Fatal(err)
		}
	})
	if allocs > 60 {
		t.Errorf("%v allocations", allocs)
	}
}

// BenchmarkOf measures a text in order.
func BenchmarkOf(b *testing.B) {
	var text strings.Builder
	text.WriteString(head)
	for i := range 100_000 {
		at := 0x1000 + 16*i
		fmt.Fprintf(&text, "FUNC %x 10 0 f%d\nINLINE 0 1 0 0 %x 4\n%x 8 %d 0\n%x 8 %d 0\n", at, i, at, at, i+1, at+8, i+2)
	}
	data := []byte(text.String())
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		_, err := Of(b.Context(), data)
		if err != nil {
			b.Fatal(err)
		}
	}
}

// FuzzOf: parts are not more than the whole, no file is better than itself, and one more symbol makes none worse.
func FuzzOf(f *testing.F) {
	f.Add([]byte(head + "FUNC 10 20 0 f\nINLINE 0 1 0 0 10 8\n10 8 1 0\nPUBLIC 5 0 p\nSTACK CFI INIT 10 20 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n"))
	f.Add([]byte(head + "FUNC 10 20 0 <name omitted>\nFUNC 20 20 0 g\n18 90 1 0\nSTACK WIN 4 2170 14 1 0 0 0 0 0 1 a\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := Of(t.Context(), text)
		if err != nil {
			return
		}
		if r.NamedBytes > r.FunctionBytes || r.LineBytes > r.FunctionBytes || r.InlineBytes > r.FunctionBytes ||
			r.LineRows > uint64(len(text)) || r.InlineRanges > uint64(len(text)) || r.Publics > uint64(len(text)) {
			t.Fatalf("%+v", r)
		}
		if sign, why := r.Compare(r); sign != 0 || why == "" {
			t.Fatalf("%+v: %d, %s", r, sign, why)
		}
		if text[len(text)-1] != '\n' {
			return
		}
		more, err := Of(t.Context(), append(text[:len(text):len(text)], "PUBLIC 0 0 p\n"...))
		if sign, why := more.Compare(r); err != nil || sign < 0 {
			t.Fatalf("%+v, and with one more record %+v: %s, %v", r, more, why, err)
		}
	})
}
