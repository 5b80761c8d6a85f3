package dwarfx

import (
	"encoding/binary"
	"testing"
)

// TestLineSize (DWARF 5 §7.4, initial lengths): up to the last byte that is read.
func TestLineSize(t *testing.T) {
	word := binary.LittleEndian.AppendUint32
	of := func(first uint32, rest ...byte) []byte { return append(word(nil, first), rest...) }
	for _, test := range []struct {
		name string
		line []byte
		off  uint64
		want uint64
	}{
		{"a table", of(3, 1, 2, 3, 4), 0, 7},
		{"after another", append(of(1, 9), of(3, 1, 2, 3)...), 5, 7},
		{"64-bit", of(0xffffffff, 2, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3), 0, 14},
		{"cut short", of(30, 1, 2), 0, 6},
		{"empty", of(0, 1), 0, 4},
		{"reserved", of(0xfffffff0, 1, 2), 0, 0},
		{"too short for a length", []byte{1, 2, 3}, 0, 0},
		{"outside", of(1, 1), 6, 0},
	} {
		d := New(Sections{Line: test.line}, 0, nil)
		if got := d.LineSize(&Unit{data: d, HasLines: true, LineOff: test.off}); got != test.want {
			t.Errorf("%s: %d, want %d", test.name, got, test.want)
		}
	}
}
