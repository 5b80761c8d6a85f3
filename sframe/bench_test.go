package sframe

import "testing"

// benchSection is a version 3 AMD64 chunk of 1000 functions of 10 rows.
func benchSection() []byte {
	const funcs, rows = 1000, 10
	le := func(b []byte, n int, v uint64) []byte {
		for range n {
			b, v = append(b, byte(v)), v>>8
		}
		return b
	}
	var table, fres []byte
	for i := range funcs {
		table = le(table, 8, uint64(i*64))
		table = le(table, 4, 64)
		table = le(table, 4, uint64(len(fres)))
		fres = append(fres, rows, 0, 0, 0, 0)
		for k := range rows {
			fres = append(fres, byte(k*6), 0x05, 16, 0xf0)
		}
	}
	b := []byte{0xe2, 0xde, 3, 5, 3, 0, 0xf8, 0}
	for _, v := range []int{funcs, funcs * rows, len(fres), 0, len(table)} {
		b = le(b, 4, uint64(v))
	}
	return append(append(b, table...), fres...)
}

func countRows(t testing.TB, s *Section) (n int) {
	for f, err := range s.FDEs() {
		if err != nil {
			t.Fatal(err)
		}
		for row, err := range f.Rows() {
			if err != nil || row.Begin >= row.End {
				t.Fatal(row, err)
			}
			n++
		}
	}
	return n
}
