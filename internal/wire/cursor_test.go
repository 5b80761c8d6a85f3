package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"testing"
)

// reads holds one row per accessor and outcome: what it returns, how far it
// moves, and, where it fails, the error with its offset.
var reads = []struct {
	name string
	data string
	big  bool
	read func(*Cursor) uint64
	want uint64
	pos  int   // after the read
	err  error // at errAt
	at   int
}{
	{"U8", "\xfe", false, u8, 0xfe, 1, nil, 0},
	{"U8 at the end", "", false, u8, 0, 0, ErrTruncated, 0},
	{"U16 little", "\x01\x02", false, u16, 0x0201, 2, nil, 0},
	{"U16 big", "\x01\x02", true, u16, 0x0102, 2, nil, 0},
	{"U16 short", "\x01", false, u16, 0, 1, ErrTruncated, 0},
	{"U24 little", "\x01\x02\x83", false, u24, 0x830201, 3, nil, 0},
	{"U24 big", "\x81\x02\x03", true, u24, 0x810203, 3, nil, 0},
	{"U24 short", "\x01\x02", true, u24, 0, 2, ErrTruncated, 0},
	{"U32 little", "\x01\x02\x03\x84", false, u32, 0x84030201, 4, nil, 0},
	{"U32 big", "\x81\x02\x03\x04", true, u32, 0x81020304, 4, nil, 0},
	{"U32 short", "\x01\x02\x03", false, u32, 0, 3, ErrTruncated, 0},
	{"U64 little", "\x01\x02\x03\x04\x05\x06\x07\x88", false, u64, 0x8807060504030201, 8, nil, 0},
	{"U64 big", "\x81\x02\x03\x04\x05\x06\x07\x08", true, u64, 0x8102030405060708, 8, nil, 0},
	{"U64 short", "\x01\x02\x03\x04\x05\x06\x07", false, u64, 0, 7, ErrTruncated, 0},
	{"Uint 1", "\x81\x02", false, uintN(1), 0x81, 1, nil, 0},
	{"Uint 2", "\x81\x02", true, uintN(2), 0x8102, 2, nil, 0},
	{"Uint 3", "\x81\x02\x03", true, uintN(3), 0x810203, 3, nil, 0},
	{"Uint 4", "\x81\x02\x03\x04", true, uintN(4), 0x81020304, 4, nil, 0},
	{"Uint 8", "\x81\x02\x03\x04\x05\x06\x07\x08", true, uintN(8), 0x8102030405060708, 8, nil, 0},
	{"Uint short", "\x81\x02\x03", true, uintN(4), 0, 3, ErrTruncated, 0},
	{"Uint of no size", "\x81", true, uintN(0), 0, 1, ErrSize, 0},
	{"Uint 5", "\x01\x02\x03\x04\x05", true, uintN(5), 0, 5, ErrSize, 0},
	{"Uint -1", "\x01", true, uintN(-1), 0, 1, ErrSize, 0},

	{"DWARF 5 §7.6 ULEB 2", "\x02", false, uleb, 2, 1, nil, 0},
	{"DWARF 5 §7.6 ULEB 127", "\x7f", false, uleb, 127, 1, nil, 0},
	{"DWARF 5 §7.6 ULEB 128", "\x80\x01", false, uleb, 128, 2, nil, 0},
	{"DWARF 5 §7.6 ULEB 12857", "\xb9\x64\x00", false, uleb, 12857, 2, nil, 0},
	{"ULEB padded", "\x81\x80\x80\x00\x05", false, uleb, 1, 4, nil, 0},
	{"ULEB largest", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", false, uleb, math.MaxUint64, 10, nil, 0},
	{"ULEB largest, padded", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x81\x80\x00", false, uleb, math.MaxUint64, 12, nil, 0},
	{"ULEB of 65 bits", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", false, uleb, 0, 10, ErrOverflow, 0},
	{"ULEB with a bit in the padding", "\x81\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", false, uleb, 0, 11, ErrOverflow, 0},
	{"ULEB at the end", "", false, uleb, 0, 0, ErrTruncated, 0},
	{"ULEB cut", "\x80\x80", false, uleb, 0, 2, ErrTruncated, 2},

	{"DWARF 5 §7.6 SLEB 2", "\x02", false, sleb, 2, 1, nil, 0},
	{"DWARF 5 §7.6 SLEB -2", "\x7e", false, sleb, neg(2), 1, nil, 0},
	{"DWARF 5 §7.6 SLEB 127", "\xff\x00", false, sleb, 127, 2, nil, 0},
	{"DWARF 5 §7.6 SLEB -127", "\x81\x7f", false, sleb, neg(127), 2, nil, 0},
	{"DWARF 5 §7.6 SLEB -129", "\xff\x7e", false, sleb, neg(129), 2, nil, 0},
	{"SLEB -1 padded", "\xff\xff\x7f", false, sleb, neg(1), 3, nil, 0},
	{"SLEB 0 padded past 64 bits", "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", false, sleb, 0, 11, nil, 0},
	{"SLEB -1 padded past 64 bits", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", false, sleb, neg(1), 11, nil, 0},
	{"SLEB of 63 bits, negative", "\x80\x80\x80\x80\x80\x80\x80\x80\x40", false, sleb, 0xc000000000000000, 9, nil, 0},
	{"SLEB largest", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00", false, sleb, math.MaxInt64, 10, nil, 0},
	{"SLEB smallest", "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x7f", false, sleb, 1 << 63, 10, nil, 0},
	{"SLEB of 65 bits", "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", false, sleb, 0, 10, ErrOverflow, 0},
	{"SLEB of 64 bits, the last group zero", "\x80\x80\x80\x80\x80\x80\x80\x80\xff\x00", false, sleb, 0x7f << 56, 10, nil, 0},
	{"SLEB with a wrong sign in the padding", "\x80\x80\x80\x80\x80\x80\x80\x80\x80\xff\x00", false, sleb, 0, 11, ErrOverflow, 0},
	{"SLEB at the end", "", false, sleb, 0, 0, ErrTruncated, 0},
	{"SLEB cut", "\x80", false, sleb, 0, 1, ErrTruncated, 1},

	{"SkipLEB", "\x80\x80\x00\x01", false, skipLEB, 0, 3, nil, 0},
	{"SkipLEB of any length", string(bytes.Repeat([]byte{0xff}, 30)) + "\x7f", false, skipLEB, 0, 31, nil, 0},
	{"SkipLEB cut", "\x80\x80", false, skipLEB, 0, 2, ErrTruncated, 2},

	{"DWARF 5 §7.4 length", "\x10\x00\x00\x00", false, length, 0x10, 4, nil, 0},
	{"DWARF 5 §7.4 largest 32-bit length", "\xef\xff\xff\xff", false, length, 0xffffffef, 4, nil, 0},
	{"DWARF 5 §7.4 64-bit length", "\xff\xff\xff\xff\x10\x00\x00\x00\x00\x00\x00\x40", false, length, 64<<56 | 0x10, 12, nil, 0},
	{"DWARF 5 §7.2.2 reserved length", "\xf0\xff\xff\xff", false, length, 0, 4, ErrReserved, 0},
	{"DWARF 5 §7.2.2 last reserved length", "\xff\xff\xff\xfe", true, length, 0, 4, ErrReserved, 0},
	{"length cut", "\x10\x00\x00", false, length, 0, 3, ErrTruncated, 0},
	{"64-bit length cut", "\xff\xff\xff\xff\x10", false, length, 0, 5, ErrTruncated, 4},
	{"32-bit offset", "\x10\x00\x00\x80", false, offset(false), 0x80000010, 4, nil, 0},
	{"64-bit offset", "\x80\x00\x00\x00\x00\x00\x00\x10", true, offset(true), 1<<63 | 0x10, 8, nil, 0},
	{"offset cut", "\x10", false, offset(false), 0, 1, ErrTruncated, 0},

	{"CString", "ab\x00c", false, cstring, 2, 3, nil, 0},
	{"CString empty", "\x00", false, cstring, 0, 1, nil, 0},
	{"CString unterminated", "abc", false, cstring, 0, 3, ErrUnterminated, 0},
	{"CString at the end", "", false, cstring, 0, 0, ErrUnterminated, 0},
	{"Bytes", "abc", false, bytesN(2), 2, 2, nil, 0},
	{"Bytes, all", "abc", false, bytesN(3), 3, 3, nil, 0},
	{"Bytes, too many", "abc", false, bytesN(4), 0, 3, ErrTruncated, 0},
	{"Bytes, 2^64-1", "abc", false, bytesN(math.MaxUint64), 0, 3, ErrTruncated, 0},
	{"Skip", "abc", false, skip(3), 0, 3, nil, 0},
	{"Skip, too many", "abc", false, skip(4), 0, 3, ErrTruncated, 0},
	{"Skip, 2^64-1", "abc", false, skip(math.MaxUint64), 0, 3, ErrTruncated, 0},
	{"Seek", "abc", false, seek(2), 0, 2, nil, 0},
	{"Seek to the end", "abc", false, seek(3), 0, 3, nil, 0},
	{"Seek outside", "abc", false, seek(100), 0, 3, ErrOffset, 0},
	{"Seek to 2^63", "abc", false, seek(1 << 63), 0, 3, ErrOffset, 0},
}

func neg(v uint64) uint64 { return -v }

func u8(c *Cursor) uint64      { return uint64(c.U8()) }
func u16(c *Cursor) uint64     { return uint64(c.U16()) }
func u24(c *Cursor) uint64     { return uint64(c.U24()) }
func u32(c *Cursor) uint64     { return uint64(c.U32()) }
func u64(c *Cursor) uint64     { return c.U64() }
func uleb(c *Cursor) uint64    { return c.ULEB() }
func sleb(c *Cursor) uint64    { return uint64(c.SLEB()) }
func skipLEB(c *Cursor) uint64 { c.SkipLEB(); return 0 }
func cstring(c *Cursor) uint64 { return uint64(len(c.CString())) }

// length marks the 64-bit format in the value's top byte.
func length(c *Cursor) uint64 {
	n, dwarf64 := c.InitialLength()
	if dwarf64 != (n>>56 == 64) && c.Err() == nil {
		return math.MaxUint64
	}
	return n
}

func uintN(size int) func(*Cursor) uint64 {
	return func(c *Cursor) uint64 { return c.Uint(size) }
}

func offset(dwarf64 bool) func(*Cursor) uint64 {
	return func(c *Cursor) uint64 { return c.Offset(dwarf64) }
}

func bytesN(n uint64) func(*Cursor) uint64 {
	return func(c *Cursor) uint64 { return uint64(len(c.Bytes(n))) }
}

func skip(n uint64) func(*Cursor) uint64 {
	return func(c *Cursor) uint64 { c.Skip(n); return 0 }
}

func seek(off uint64) func(*Cursor) uint64 {
	return func(c *Cursor) uint64 { c.Seek(off); return 0 }
}

func TestReads(t *testing.T) {
	for _, test := range reads {
		c := New(".test", []byte(test.data), test.big)
		if got := test.read(&c); got != test.want {
			t.Errorf("%s: got %#x, want %#x", test.name, got, test.want)
		}
		if c.Pos() != test.pos || c.Len() != len(test.data)-test.pos {
			t.Errorf("%s: at %d, %d left; want at %d", test.name, c.Pos(), c.Len(), test.pos)
		}
		checkError(t, test.name, c.Err(), test.err, test.at)
	}
}

// checkError asserts the sentinel, the section and the offset of err.
func checkError(t *testing.T, name string, err, want error, at int) {
	t.Helper()
	if want == nil {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		return
	}
	e, ok := errors.AsType[*Error](err)
	if !ok || !errors.Is(err, want) || e.Section != ".test" || e.Offset != at {
		t.Errorf("%s: got error %v, want %v at %#x", name, err, want, at)
	}
}

// Every accessor that fails at an offset other than 0 says so; the first
// failure stays, empties the cursor, and makes every later read zero.
func TestFailureSticks(t *testing.T) {
	for _, test := range reads {
		if test.err == nil {
			continue
		}
		data := append([]byte("abcd"), test.data...)
		c := New(".test", data, test.big)
		c.Skip(4)
		test.read(&c)
		checkError(t, test.name, c.Err(), test.err, 4+test.at)
		first := c.Err()
		for _, later := range reads {
			if got := later.read(&c); got != 0 || c.Len() != 0 || c.Err() != first || c.Pos() != c.End() {
				t.Errorf("%s, then %s: %#x, %d left, %v", test.name, later.name, got, c.Len(), c.Err())
			}
		}
		if s := c.Sub(0); s.Err() != first || s.Len() != 0 {
			t.Errorf("%s: sub-cursor with %d left, %v", test.name, s.Len(), s.Err())
		}
	}
}

func TestFail(t *testing.T) {
	what := errors.New("what")
	c := New(".test", []byte("abcd"), false)
	c.Skip(1)
	c.Fail(3, what)
	c.Fail(0, ErrTruncated)
	checkError(t, "Fail", c.Err(), what, 3)
	if got := c.Err().Error(); got != ".test+0x3: what" {
		t.Errorf("printed %q", got)
	}
}

// Positions of a sub-cursor count from the start of the section.
func TestSub(t *testing.T) {
	c := New(".test", []byte("abcdef"), true)
	c.Skip(1)
	s := c.Sub(3)
	if s.Pos() != 1 || s.Len() != 3 || s.End() != 4 || c.Pos() != 4 || c.Len() != 2 ||
		!s.BigEndian() || s.Section() != ".test" {
		t.Fatalf("sub-cursor at %d, %d left; cursor at %d", s.Pos(), s.Len(), c.Pos())
	}
	nested := s.Sub(2)
	nested.Skip(2)
	if nested.U8(); nested.Err() == nil {
		t.Error("a sub-cursor reads past its end")
	}
	checkError(t, "nested", nested.Err(), ErrTruncated, 3)
	if s.U8() != 'd' || s.Err() != nil || c.U8() != 'e' {
		t.Error("a failure in a sub-cursor is seen outside it")
	}
	s.Seek(5)
	checkError(t, "Seek behind a sub-cursor", s.Err(), ErrOffset, 4)
	for _, n := range []uint64{2, 1 << 63, math.MaxUint64} {
		c := c
		s := c.Sub(n)
		checkError(t, "Sub", s.Err(), ErrTruncated, 5)
		checkError(t, "Sub, the cursor itself", c.Err(), ErrTruncated, 5)
		if s.Len() != 0 || c.Len() != 0 {
			t.Errorf("Sub(%d): %d and %d bytes left after the failure", n, s.Len(), c.Len())
		}
	}
}

// What is returned aliases the section, and appending to it does not write
// into the section.
func TestAliases(t *testing.T) {
	data := []byte("ab\x00cd")
	c := New(".test", data, false)
	s, b, rest := c.CString(), c.Bytes(1), c.Rest()
	if &s[0] != &data[0] || &b[0] != &data[3] || &rest[0] != &data[4] {
		t.Error("copied")
	}
	_, _ = append(s, 'x'), append(b, 'y')
	if len(rest) != 1 || cap(rest) != 1 || c.Pos() != 4 {
		t.Errorf("rest of %d bytes, capacity %d, cursor at %d", len(rest), cap(rest), c.Pos())
	}
	if string(data) != "ab\x00cd" {
		t.Errorf("the section became %q", data)
	}
}

// A cursor that has failed is as good as new after Reset.
func TestReset(t *testing.T) {
	c := New(".one", []byte("a"), false)
	c.U32()
	c.Reset(".two", []byte{1, 2}, true)
	if v := c.U16(); v != 0x102 || c.Err() != nil || c.Section() != ".two" {
		t.Errorf("%#x, %v in %s", v, c.Err(), c.Section())
	}
}

func TestAllocs(t *testing.T) {
	data := bytes.Repeat([]byte("\x81\x01abc\x00\x10\x00\x00\x00"), 100)
	if n := testing.AllocsPerRun(100, func() {
		c := New(".test", data, false)
		for c.Len() > 0 {
			s := c.Sub(10)
			s.ULEB()
			s.CString()
			s.InitialLength()
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzCursor runs a program of reads, two bytes each (what, how much), over
// data. Every read consumes or fails or asked for nothing; positions stay
// inside; a failure has its place and sticks; and what LEB128 and fixed-size
// reads return is checked against encoding/binary.
func FuzzCursor(f *testing.F) {
	f.Add([]byte("\x00\x00\x05\x08\x08\x00\x09\x00"), []byte("abcdefghij\x81\x01\x7f"), false)
	f.Add([]byte("\x06\x04\x0b\x00\x07\x03\x0a\x00"), []byte("\xff\xff\xff\xff12345678ab\x00\xf0"), true)
	f.Add([]byte("\x08\x00\x09\x00"), bytes.Repeat([]byte{0x80}, 20), false)
	f.Fuzz(func(t *testing.T, program, data []byte, big bool) {
		c := New(".fuzz", data, big)
		cursors := []Cursor{c}
		for len(program) >= 2 {
			op, n := program[0]%13, uint64(program[1])
			program = program[2:]
			before := c
			got, mayStay := step(&c, op, n)
			if op == 12 && before.Err() == nil && c.Err() == nil && len(cursors) < 8 {
				sub := before
				cursors = append(cursors, sub.Sub(n))
			}
			checkStep(t, &before, &c, data, mayStay)
			if c.Err() == nil {
				checkValue(t, &before, &c, data, op, n, got)
			}
			if c.Err() != nil && len(cursors) > 0 {
				c, cursors = cursors[len(cursors)-1], cursors[:len(cursors)-1]
			}
		}
	})
}

// step does one read and returns its value, and whether it may consume
// nothing without having failed.
func step(c *Cursor, op byte, n uint64) (v uint64, mayStay bool) {
	switch op {
	case 0:
		return u8(c), false
	case 1:
		return u16(c), false
	case 2:
		return u24(c), false
	case 3:
		return u32(c), false
	case 4:
		return u64(c), false
	case 5:
		return c.Uint(int(n)), false
	case 6:
		return length(c), false
	case 7:
		return c.Offset(n&1 != 0), false
	case 8:
		return uleb(c), false
	case 9:
		return sleb(c), false
	case 10:
		return cstring(c), false
	case 11:
		return bytesN(n)(c), n == 0
	}
	s := c.Sub(n)
	return uint64(s.Len()), n == 0
}

func checkStep(t *testing.T, before, c *Cursor, data []byte, mayStay bool) {
	t.Helper()
	if c.Pos() < before.Pos() || c.Pos() > c.End() || c.End() > len(data) || c.Len() != c.End()-c.Pos() {
		t.Fatalf("from %d to %d of %d", before.Pos(), c.Pos(), c.End())
	}
	if c.Err() == nil {
		if c.Pos() == before.Pos() && !mayStay {
			t.Fatal("neither consumed nor failed")
		}
		return
	}
	e, ok := errors.AsType[*Error](c.Err())
	if !ok || e.Offset < 0 || e.Offset > len(data) || c.Len() != 0 {
		t.Fatalf("error without a place, or with bytes left: %v", c.Err())
	}
	if before.Err() != nil && before.Err() != c.Err() {
		t.Fatalf("%v became %v", before.Err(), c.Err())
	}
}

func checkValue(t *testing.T, before, c *Cursor, data []byte, op byte, n, got uint64) {
	t.Helper()
	raw := data[before.Pos():c.Pos()]
	want := got
	switch op {
	case 0, 1, 2, 3, 4, 5, 7:
		want = fixed(raw, c.BigEndian())
	case 8, 9:
		want = slowLEB(raw, op == 9)
	case 10:
		want = uint64(bytes.IndexByte(raw, 0))
	case 11, 12:
		want = uint64(len(raw))
	}
	if got != want {
		t.Fatalf("op %d: %x reads as %#x, want %#x", op, raw, got, want)
	}
}

func fixed(raw []byte, big bool) uint64 {
	var b [8]byte
	if big {
		copy(b[8-len(raw):], raw)
		return binary.BigEndian.Uint64(b[:])
	}
	copy(b[:], raw)
	return binary.LittleEndian.Uint64(b[:])
}

// slowLEB is DWARF 5 §7.6 bit by bit.
func slowLEB(raw []byte, signed bool) (v uint64) {
	bit := func(i int) uint64 {
		if i >= 7*len(raw) {
			if !signed {
				return 0
			}
			i = 7*len(raw) - 1 // the sign
		}
		return uint64(raw[i/7]>>(i%7)) & 1
	}
	for i := range 64 {
		v |= bit(i) << i
	}
	return v
}

func BenchmarkULEB(b *testing.B) {
	data := bytes.Repeat([]byte("\x05\x7f\x81\x01\x00\xff\xff\x03"), 8192)
	b.SetBytes(int64(len(data)))
	var sum uint64
	for b.Loop() {
		for c := New(".bench", data, false); c.Len() > 0; {
			sum += c.ULEB()
		}
	}
	_ = sum
}

func BenchmarkU32(b *testing.B) {
	data := make([]byte, 64<<10)
	b.SetBytes(int64(len(data)))
	var sum uint32
	for b.Loop() {
		for c := New(".bench", data, false); c.Len() > 0; {
			sum += c.U32()
		}
	}
	_ = sum
}

func TestInherit(t *testing.T) {
	c := New("s", []byte{1, 2, 3, 4}, false)
	sub := c.Sub(2)
	c.Inherit(&sub)
	if c.Err() != nil || c.Len() != 2 {
		t.Fatalf("a sub-cursor that has not failed: %v, %d bytes left", c.Err(), c.Len())
	}
	sub.U32()
	c.Inherit(&sub)
	if c.Err() == nil || c.Err() != sub.Err() || c.Len() != 0 {
		t.Fatalf("a sub-cursor that has failed: %v, %d bytes left", c.Err(), c.Len())
	}
	other := New("t", nil, false)
	other.U8()
	c.Inherit(&other)
	if c.Err() != sub.Err() {
		t.Error("a later failure replaced the first")
	}
}
