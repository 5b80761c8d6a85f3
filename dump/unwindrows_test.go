package dump

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"symkit/elfx"
	"symkit/emit"
	"symkit/internal/dwarfx"
)

// TestUnwindRows: the rows are what a reader of the written file finds at each of their
// addresses, and they cover what its STACK CFI INIT records cover. The signal frames are
// those of its INFO SIGNAL_FRAME records.
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

		inits, signals := uint64(0), []dwarfx.Range(nil)
		for rec, err := range emit.NewReader(text.Bytes()).Records() {
			if err != nil {
				t.Fatal(err)
			}
			switch r := rec.(type) {
			case *emit.StackCFIInit:
				inits += uint64(r.Size)
			case *emit.Info:
				frame, ok := r.SignalFrame()
				if ok {
					signals = append(signals, dwarfx.Range{Lo: frame.Addr, Hi: frame.Addr + uint64(frame.Size)})
				}
			}
		}
		if covered != inits || rows == 0 {
			t.Errorf("%s: %d rows cover %d bytes, want %d", path, rows, covered, inits)
		}
		if !slices.Equal(m.SignalFrames(), signals) || (len(signals) > 0) != strings.Contains(path, "/asm-") {
			t.Errorf("%s: signal frames at %x, the file has %x", path, m.SignalFrames(), signals)
		}
		for range m.UnwindRows() { // the caller wants one row
			break
		}
	}
}
