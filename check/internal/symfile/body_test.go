package symfile

import (
	"slices"
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

// FuzzRead checks that Read gives the records of each FUNC that the strict reader has given.
func FuzzRead(f *testing.F) {
	f.Add([]byte(bodyHead + "FUNC 10 20 0 f\nINLINE 0 1 0 0 10 4 18 2\n10 4 7 0\n14 1c 8 0\nPUBLIC 1 0 p\nFUNC x\n8 1 1 0\n"))
	f.Fuzz(func(t *testing.T, text []byte) { checkBodies(t, text) })
}
