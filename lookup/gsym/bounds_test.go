package gsym

import (
	"encoding/binary"
	"strings"
	"testing"
)

// TestBounds: what no compiler makes costs no more than its size: calls deeper than others, names longer than others, and
// functions of one address.
func TestBounds(t *testing.T) {
	w := NewWriter(nil, false)
	fn := &Func{Addr: 0x1000, Size: 0x10, Name: w.String(strings.Repeat("n", maxText+10))}
	for depth := range uint32(maxDepth + 10) {
		fn.Calls = append(fn.Calls, Call{Depth: depth, Name: w.String("inner"), Ranges: []Range{{0x1000, 0x1010}}})
	}
	w.Func(fn)
	for i := range uint64(maxSame + 10) {
		w.Func(&Func{Addr: 0x2000 + i, Size: 1, Name: w.String("same")})
	}
	data := written(t, w)
	f, err := Open(data)
	if err != nil {
		t.Fatal(err)
	}
	_, frames, err := f.Lookup(nil, 0x1008)
	if err != nil || len(frames) != maxDepth {
		t.Fatalf("%d frames, %v", len(frames), err)
	}
	if n := len(frames[maxDepth-1].Name); n != maxText {
		t.Errorf("a name of %d bytes", n)
	}

	// All but the first function move to one address, and the last one alone is longer than a byte.
	last := f.count() - 1
	for i := 1; i <= last; i++ {
		binary.LittleEndian.PutUint16(f.addrs[f.width*i:], 0x1000)
	}
	s, _, err := f.Lookup(nil, 0x2000)
	if err != nil || string(s.Name) != "same" {
		t.Errorf("%q, %v", s.Name, err)
	}
	c := f.info(last)
	binary.LittleEndian.PutUint32(data[c.Pos():], 0x10)
	s, frames, err = f.Lookup(nil, 0x2008)
	if err != nil || len(frames) > 0 {
		t.Errorf("function %d of an address: %q, %v", last, s.Name, err)
	}
}
