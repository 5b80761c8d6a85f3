package wire

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// TestNewAt: a cursor over a part of a section reads what a cursor over the whole
// section reads there, except what lies before the part. All offsets are those of the
// section.
func TestNewAt(t *testing.T) {
	const base = 1 << 30
	for _, test := range reads {
		if strings.HasPrefix(test.name, "Seek") {
			continue // see below
		}
		c := NewAt(".test", []byte(test.data), base, test.big)
		if got := test.read(&c); got != test.want {
			t.Errorf("%s: got %#x, want %#x", test.name, got, test.want)
		}
		if c.Pos() != base+test.pos || c.Len() != len(test.data)-test.pos || c.End() != base+len(test.data) {
			t.Errorf("%s: at %#x, %d left of those up to %#x; want at %#x", test.name, c.Pos(), c.Len(), c.End(), base+test.pos)
		}
		checkError(t, test.name, c.Err(), test.err, base+test.at)
	}
	for off, ok := range map[uint64]bool{
		base: true, base + 3: true, base + 6: true, // the end
		base - 1: false, base + 7: false, 0: false, 3: false, 1 << 41: false, math.MaxUint64: false, 1<<63 + base: false,
	} {
		c := NewAt(".test", []byte("abcdef"), base, true)
		c.Skip(2)
		c.Seek(off)
		if !ok {
			checkError(t, fmt.Sprintf("Seek %#x", off), c.Err(), ErrOffset, base+2)
		} else if c.Err() != nil || c.Pos() != int(off) || string(c.Rest()) != "abcdef"[off-base:] {
			t.Errorf("Seek %#x: at %#x, %q, %v", off, c.Pos(), c.Rest(), c.Err())
		}
	}
}

// A sub-cursor of one over a part, and one made new.
func TestNewAtSub(t *testing.T) {
	const base = 100
	c := NewAt(".test", []byte("abcdef"), base, true)
	c.Skip(1)
	s := c.Sub(3)
	if s.Pos() != base+1 || s.Len() != 3 || s.End() != base+4 || c.Pos() != base+4 || c.End() != base+6 || !s.BigEndian() || s.Section() != ".test" {
		t.Fatalf("sub-cursor at %d, %d left; cursor at %d", s.Pos(), s.Len(), c.Pos())
	}
	s.Seek(base) // before the sub-cursor's start, not before the part's
	if s.Err() != nil || string(s.Bytes(4)) != "abcd" {
		t.Errorf("Seek to the part's start: %v", s.Err())
	}
	s.U8()
	checkError(t, "behind the sub-cursor", s.Err(), ErrTruncated, base+4)
	c.Inherit(&s)
	checkError(t, "inherited", c.Err(), ErrTruncated, base+4)
	if c.Len() != 0 || c.Pos() != base+6 {
		t.Errorf("at %d, %d left", c.Pos(), c.Len())
	}
	c.Reset(".test", []byte("abc"), false)
	if c.Seek(1); c.Err() != nil || c.Pos() != 1 || c.End() != 3 || c.U8() != 'b' {
		t.Errorf("after Reset at %d up to %d, %v", c.Pos(), c.End(), c.Err())
	}
}
