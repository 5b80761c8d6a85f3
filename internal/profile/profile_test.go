package profile_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"symkit/internal/profile"
	"symkit/located"
	"symkit/lookup"
)

// num is a field that is a number, msg one that is a message or a string.
func num(field, n uint64) string {
	return string(binary.AppendUvarint(binary.AppendUvarint(nil, field<<3), n))
}

func msg(field uint64, parts ...string) string {
	text := strings.Join(parts, "")
	return string(binary.AppendUvarint(binary.AppendUvarint(nil, field<<3|2), uint64(len(text)))) + text
}

// raw is a profile: a sample, a mapping, two locations in it, one without a mapping and one that has a line, a function.
var raw = msg(2, msg(1, "\x01"), msg(2, "\x07")) +
	msg(3, num(1, 5), num(2, 0x1000), num(3, 0x2000), num(4, 0x100), num(5, 1), num(6, 2)) +
	msg(4, num(1, 1), num(2, 5), num(3, 0x1010)) +
	msg(4, num(1, 2), num(2, 5), num(3, 0x1020)) +
	msg(4, num(1, 3), num(3, 0x1010)) +
	msg(4, num(1, 4), num(2, 5), num(3, 0x1010), msg(4, num(1, 9))) +
	msg(5, num(1, 9), num(2, 3)) +
	msg(6) + msg(6, "/app") + msg(6, "abcd") + msg(6, "old") +
	num(10, 99) + "\x59\x01\x02\x03\x04\x05\x06\x07\x08" + "\x65\x01\x02\x03\x04"

// symbols knows the address 0x1010.
var symbols = profile.Symbols{
	Frames: func(dst []lookup.Frame, m *profile.Mapping, addr uint64) []lookup.Frame {
		if addr != 0x1010 {
			return dst
		}
		return append(dst, lookup.Frame{Name: "f", Linkage: "_Z1fv", File: "a.h", Line: 3, Column: 4, StartLine: 2, Inlined: true},
			lookup.Frame{Name: "main", File: "a\xff.c", Line: 7})
	},
	Name: func(f *lookup.Frame) string { return f.Name + "()" },
}

// write returns what Write makes of a profile.
func write(t testing.TB, data string, s profile.Symbols) string {
	t.Helper()
	p, err := profile.Parse([]byte(data))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	err = p.Write(&out, s)
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestWrite: what is known is added, and all else stays.
func TestWrite(t *testing.T) {
	want := msg(2, msg(1, "\x01"), msg(2, "\x07")) +
		msg(4, num(1, 1), num(2, 5), num(3, 0x1010), msg(4, num(1, 10), num(2, 3), num(3, 4)), msg(4, num(1, 11), num(2, 7))) +
		msg(4, num(1, 2), num(2, 5), num(3, 0x1020)) +
		msg(4, num(1, 3), num(3, 0x1010)) +
		msg(4, num(1, 4), num(2, 5), num(3, 0x1010), msg(4, num(1, 9))) +
		msg(5, num(1, 9), num(2, 3)) +
		msg(6) + msg(6, "/app") + msg(6, "abcd") + msg(6, "old") +
		num(10, 99) + "\x59\x01\x02\x03\x04\x05\x06\x07\x08" + "\x65\x01\x02\x03\x04" +
		msg(3, num(1, 5), num(2, 0x1000), num(3, 0x2000), num(4, 0x100), num(5, 1), num(6, 2), num(7, 1), num(8, 1), num(9, 1), num(10, 1)) +
		msg(6, "f()") + msg(6, "_Z1fv") + msg(6, "a.h") +
		msg(5, num(1, 10), num(2, 4), num(3, 5), num(4, 6), num(5, 2)) +
		msg(6, "main()") + msg(6, "main") + msg(6, "a\ufffd.c") +
		msg(5, num(1, 11), num(2, 7), num(3, 8), num(4, 9))
	if got := write(t, raw, symbols); got != want {
		t.Errorf("%q\nwant:\n%q", got, want)
	}

	p, err := profile.Parse([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	if m := p.Mappings[0]; m.File != "/app" || m.BuildID != "abcd" || m.Start != 0x1000 || m.Limit != 0x2000 || m.Offset != 0x100 {
		t.Errorf("%+v", m)
	}
}

// TestDamage: each error has its place.
func TestDamage(t *testing.T) {
	for _, tt := range []struct {
		data   string
		offset int
		err    error // nil: by its text
		text   string
	}{
		{"\x1a", 1, located.ErrTruncated, ""},
		{"\x1a\x05\x08", 2, located.ErrTruncated, ""},
		{"\x0b", 0, nil, "unknown type of a field"},
		{"\x1a\x01\x0b", 2, nil, "unknown type of a field"},
		{"\x09\x01", 1, located.ErrTruncated, ""},
		{"\x0d\x01", 1, located.ErrTruncated, ""},
		{"\x2a\x02\x08\xff", 4, located.ErrTruncated, ""},
		{msg(3, num(5, 1)), 2, nil, "no such string"},
		{msg(6) + msg(3, num(6, 1)), 4, nil, "no such string"},
		{"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 0, located.ErrOverflow, ""},
	} {
		_, err := profile.Parse([]byte(tt.data))
		wantError(t, fmt.Sprintf("%q", tt.data), err, tt.offset, tt.err, tt.text)
	}

	p, err := profile.Parse([]byte(msg(4, "\x0b")))
	if err != nil {
		t.Fatal(err)
	}
	err = p.Write(&bytes.Buffer{}, symbols)
	wantError(t, "a location", err, 2, nil, "unknown type of a field")
}

func wantError(t *testing.T, what string, err error, offset int, cause error, text string) {
	t.Helper()
	e, ok := err.(*located.Error)
	if !ok || e.Section != "profile" || e.Offset != offset || cause != nil && e.Err != cause || !strings.Contains(err.Error(), text) {
		t.Errorf("%s: %v, want %v%s at %d", what, err, cause, text, offset)
	}
}

// FuzzWrite: what Write writes can be read and, with all that is known, is written again as it is.
func FuzzWrite(f *testing.F) {
	f.Add([]byte(raw))
	f.Add([]byte(msg(4, num(2, 1), num(3, 0x1010)) + msg(3, num(1, 1))))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := profile.Parse(data)
		if err != nil {
			return
		}
		var first, second, third bytes.Buffer
		err = p.Write(&first, symbols)
		if err != nil {
			e, ok := err.(*located.Error)
			if !ok || e.Offset > len(data) {
				t.Fatalf("error without a place: %v", err)
			}
			return
		}
		for _, pass := range []struct{ from, to *bytes.Buffer }{{&first, &second}, {&second, &third}} {
			p, err := profile.Parse(pass.from.Bytes())
			if err == nil {
				err = p.Write(pass.to, symbols)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(second.Bytes(), third.Bytes()) {
			t.Errorf("%q, then %q", second.Bytes(), third.Bytes())
		}
	})
}
