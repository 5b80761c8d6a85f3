package sframe

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
)

// TestTenfold: sections with ten times what any producer wrote into dump/testdata/sframe lose nothing. No file of
// the corpus has SFrame.
func TestTenfold(t *testing.T) {
	// The rows of one FDE are those of all: no producer shares them, each byte is used once.
	const sharing, rows = 10 * 1, 40
	le := binary.LittleEndian
	shared := []byte{0xe2, 0xde, 2, 1, 3, 0, 0xf8, 0}
	for _, v := range []uint32{sharing, rows * sharing, rows * 4, 0, sharing * 20} {
		shared = le.AppendUint32(shared, v)
	}
	for i := range sharing {
		shared = le.AppendUint32(shared, uint32(0x1000*i)) // start
		for _, v := range []uint32{0x1000, 0, rows} {      // size, first row, number of rows
			shared = le.AppendUint32(shared, v)
		}
		shared = append(shared, 1, 0, 0, 0) // rows with start addresses of two bytes
	}
	for i := range rows {
		shared = append(le.AppendUint16(shared, uint16(i)), 1<<1|1, byte(8+i%64))
	}

	// v1-amd64-basic-noeh.so has a PLT of 8 slots with a row for each.
	const slots = 10 * 8
	repeating := assemble(t, strings.TrimSpace(fmt.Sprintf("chunk v2 amd64\nfde 0 %#x addr1 mask 16\nfre 0 sp 8", 16*slots)))

	for _, test := range []struct {
		what string
		data []byte
		rows int
	}{{"sframe-sharing", shared, sharing * rows}, {"sframe-mask-rows", repeating, slots}} {
		s, err := Parse(test.data, Options{})
		if err != nil {
			t.Fatalf("%s: %v", test.what, err)
		}
		n := 0
		for f, err := range s.FDEs() {
			if err != nil {
				t.Fatalf("%s: %v", test.what, err)
			}
			for _, err := range f.Rows() {
				if err != nil {
					t.Fatalf("%s: %v", test.what, err)
				}
				n++
			}
		}
		if n != test.rows {
			t.Errorf("%s: %d rows, want %d", test.what, n, test.rows)
		}
	}
}
