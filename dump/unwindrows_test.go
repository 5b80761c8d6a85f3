package dump

import (
	"bytes"
	"slices"
	"testing"

	"symkit/elfx"
	"symkit/emit"
)

// TestUnwindRows: the rows are what a reader of the written file finds at each of their
// addresses, and they cover what its STACK CFI INIT records cover.
func TestUnwindRows(t *testing.T) {
	for _, path := range []string{
		"../testdata/elf/cxx-x86_64-gcc12-O2-dw5.elf", "../testdata/elf/asm-x86_64-gas-dw5.elf", "../testdata/elf/lang-aarch64pac-gcc12-O2-dw5.elf",
	} {
		f, err := elfx.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		m, err := Dump(t.Context(), &elfx.Image{Main: f}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		if err := m.Write(&text); err != nil {
			t.Fatal(err)
		}

		// The rows, against the index of the text.
		index := emit.NewIndex(text.Bytes())
		covered, rows := uint64(0), 0
		for row, err := range m.UnwindRows() {
			if err != nil {
				t.Fatal(err)
			}
			covered += row.Size
			rows++
			for _, addr := range []uint64{row.Addr, row.Addr + row.Size - 1} {
				_, want, ok := index.CFI(addr, nil)
				same := func(a, b emit.Rule) bool { return bytes.Equal(a.Reg, b.Reg) && bytes.Equal(a.Expr, b.Expr) }
				if !ok || !slices.EqualFunc(row.Rules, want, same) {
					t.Errorf("%s: %#x has %s, want %s", path, addr, row.Rules, want)
				}
			}
		}

		inits := uint64(0)
		for rec, err := range emit.NewReader(text.Bytes()).Records() {
			if err != nil {
				t.Fatal(err)
			}
			if r, ok := rec.(*emit.StackCFIInit); ok {
				inits += uint64(r.Size)
			}
		}
		if covered != inits || rows == 0 {
			t.Errorf("%s: %d rows cover %d bytes, want %d", path, rows, covered, inits)
		}
		for range m.UnwindRows() { // the caller wants one row
			break
		}
	}
}
