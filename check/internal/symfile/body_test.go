package symfile

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"symkit/limits"
)

// checkBodies checks that Read gives the records that Parse has handed over.
func checkBodies(t *testing.T, text []byte) (records int) {
	t.Helper()
	var bodies []Body
	s, err := Parse(Text{Bytes: text}, limits.Limits{}, nil, nil, func(f *Func, b *Body) {
		if f != nil {
			bodies = append(bodies, Body{Lines: slices.Clone(b.Lines), Inlines: slices.Clone(b.Inlines), Ranges: slices.Clone(b.Ranges)})
		}
	})
	if err != nil {
		return 0
	}
	if len(bodies) != len(s.Funcs) {
		t.Fatalf("%d FUNCs, %d with records", len(s.Funcs), len(bodies))
	}
	var b Body
	for i := range s.Funcs {
		f, want := &s.Funcs[i], &bodies[i]
		s.Read(f, &b)
		if !slices.Equal(b.Lines, want.Lines) || !slices.Equal(b.Inlines, want.Inlines) || !slices.Equal(b.Ranges, want.Ranges) ||
			int(f.Lines) != len(b.Lines) || int(f.Inlines) != len(b.Inlines) {
			t.Errorf("FUNC of line %d: %+v, want %+v", f.Line, b, *want)
		}
		records += len(b.Lines) + len(b.Inlines)
	}
	return records
}

// bodyHead comes before the records of the tests.
const bodyHead = "MODULE Linux x86 0 a\nFILE 0 a.c\nINLINE_ORIGIN 0 f\n"

// TestRead reads records between rejected lines and other records.
func TestRead(t *testing.T) {
	for _, test := range []struct {
		text    string
		records int // of all FUNCs
	}{
		{"FUNC 10 20 0 f\nINLINE 0 1 0 0 10 4 18 2\n10 4 7 0\n14 1c 8 0\n", 3},
		{"FUNC 10 20 0 f\n10 4 7 0\nHELLO\n14 1c x 0\n14 1c 8 0\n", 2},
		{"FUNC 10 20 0 f\n10 4 7 0\nPUBLIC 8 0 p\n14 1c 8 0\n", 1},
		{"FUNC 10 20 0 f\n10 4 7 0\nPUBLIC 8 0 p\nFUNC 50 x 0 g\n14 1c 8 0\nFUNC 90 1 0 h\n", 2}, // g's line belongs to f
		{"FUNC 50 x 0 g\n50 1 8 0\nFUNC 90 1 0 h\n90 1 1 0\n", 1},                                // g's line belongs to no FUNC
		{"FUNC ffffffffffffff00 10 0 f\nffffffffffffff00 10 2147483647 0\n", 1},
	} {
		if n := checkBodies(t, []byte(bodyHead+test.text)); n != test.records {
			t.Errorf("%q: %d records, want %d", test.text, n, test.records)
		}
	}
}

// TestReadLarge reads a text that two goroutines read: FUNCs with few records, FUNCs with more than
// a batch holds, and records under no FUNC.
func TestReadLarge(t *testing.T) {
	var b strings.Builder
	b.WriteString(bodyHead + "FUNC 50 x 0 g\n50 1 8 0\n")
	want := 0
	addr := 0x1000
	for i := 0; b.Len() < 4*leastShared; i++ {
		n := []int{0, 1, 3, 40}[i%4]
		if i%3000 == 2999 {
			n = batchRecords * (1 + i/3000*3)
		}
		fmt.Fprintf(&b, "FUNC %x %x 0 f%d\n", addr, 4*n+4, i)
		if n%2 == 1 {
			fmt.Fprintf(&b, "INLINE 0 1 0 0 %x 2 %x 2\n", addr, addr+2)
			want++
		}
		for k := range n {
			fmt.Fprintf(&b, "%x 4 %d 0\n", addr+4*k, k)
		}
		want += n
		addr += 4*n + 4
	}
	if n := checkBodies(t, []byte(b.String())); n != want {
		t.Errorf("%d records, want %d", n, want)
	}
}

// FuzzRead checks that Read gives the records of each FUNC that the strict reader has given.
func FuzzRead(f *testing.F) {
	f.Add([]byte(bodyHead + "FUNC 10 20 0 f\nINLINE 0 1 0 0 10 4 18 2\n10 4 7 0\n14 1c 8 0\nPUBLIC 1 0 p\nFUNC x\n8 1 1 0\n"))
	f.Fuzz(func(t *testing.T, text []byte) { checkBodies(t, text) })
}
