package demangle

import (
	"strings"
	"testing"
)

// TestTenfold: names that have ten times as much as any name of the corpus are demangled. The largest numbers
// are of ceph-osd (C++) and of testdata/elf/rust-x86_64-rustc-O-dw4.so.
func TestTenfold(t *testing.T) {
	for _, test := range []struct {
		what       string
		largest    int
		in         func(n int) string
		begin, end string // of the text
		bomb       int    // the same with so many ends in some time, with or without a text
	}{
		{"bytes of a C++ name", 1812, func(n int) string {
			return "_Z1fI" + strings.Repeat("3abc", n/4) + "EvT_"
		}, "void f<abc, abc, ", ", abc>(abc)", 1 << 22},
		{"parts of a C++ name", 376, func(n int) string {
			return "_Z1fI" + strings.Repeat("i", n) + "EvT_"
		}, "void f<int, int, ", ", int>(int)", 1 << 22},
		{"levels of a C++ name", 62, func(n int) string {
			return "_Z1f" + strings.Repeat("1aI", n) + "i" + strings.Repeat("E", n)
		}, "f(a<a<a<", "> > >)", 1 << 20},
		{"upper-case letters in a row", 6, func(n int) string {
			return "_Z1f" + strings.Repeat("P", n) + "i"
		}, "f(int**", "***)", 1 << 20},
		{"levels of a Rust name", 13, func(n int) string {
			return "_R" + strings.Repeat("Nv", n) + "C1a" + strings.Repeat("1b", n)
		}, "a::b::b", "::b::b", 1 << 20},
		{"steps of a Rust name", 64, func(n int) string {
			return "_RINvC1a1b" + strings.Repeat("l", n) + "E"
		}, "a::b::<i32, i32, ", ", i32>", 1 << 20},
		{"levels of a D name", 6, func(n int) string {
			return "_D1a1fF" + strings.Repeat("P", n) + "iZv"
		}, "a.f(int**", "**)", 1 << 20},
	} {
		text, ok := Demangle([]byte(test.in(10 * test.largest)))
		if !ok || !strings.HasPrefix(text, test.begin) || !strings.HasSuffix(text, test.end) {
			t.Errorf("%s: %d: %v, %.100q", test.what, 10*test.largest, ok, text)
		}
		if text, _ := Demangle([]byte(test.in(test.bomb))); len(text) > max(MaxLength, len(test.in(test.bomb))) {
			t.Errorf("%s: %d: %d bytes of text", test.what, test.bomb, len(text))
		}
	}
}
