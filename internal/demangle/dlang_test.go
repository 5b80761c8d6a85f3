package demangle

import "testing"

// TestDTemplateArguments: the arguments of templates (D ABI, "Template Parameters"). The
// texts are those of c++filt 2.40.
func TestDTemplateArguments(t *testing.T) {
	for _, test := range []struct{ arguments, want string }{
		{"TiTAya", "int, immutable(char)[]"},
		{"HTiHVii3", "int, 3"}, // specialized parameters
		{"X3foo", "foo"},
		// Symbols.
		{"S1a1h", "a.h"},
		{"S_D1a1hFZv", "a.h()"},
		{"S41a1h", "a.h"}, // with a length, before D 2.077
		// Integers, by type.
		{"Vii12ViN3", "12, -3"},
		{"Vki7Vhi7Vti7Vli7Vmi7", "7u, 7u, 7u, 7L, 7uL"},
		{"Vbi1Vbi0", "true, false"},
		{"Vai65Vai10Vui955Vwi128512", `'A', '\x0a', '\u03bb', '\U0001f600'`},
		{"VPvn", "null"},
		// Floating-point numbers, with an exponent of 2.
		{"Vde8P2VdeN9FP1VdeA8PN3", "0x8.p2, -0x9.Fp1, 0xA.8p-3"},
		{"VdeNANVdeINFVdeNINF", "NaN, Inf, -Inf"},
		{"Vrc8P1cN8P2", "0x8.p1+-0x8.p2i"},
		// Strings, arrays and structures.
		{"VAyaa5_090a5c2207", `"\t\n\"\x07"`},
		{"VAyww4_0000006c", `"\x00\x00\x00l"w`},
		{"VAiA3i1i2i3VAiA0", "[1, 2, 3], []"},
		{"VHiiA2i1i2i3i4", "[1:2, 3:4]"},
		{"VS1a1sS2i1i2", "a.s(1, 2)"},
		{"VPFZvf_D1a1hFZv", "a.h()"},
	} {
		in, want := "_D1a__T1f"+test.arguments+"Z1gFZv", "a.f!("+test.want+").g()"
		text, ok := Demangle([]byte(in))
		if text != want || !ok {
			t.Errorf("%s: got %q, %v, want %q", in, text, ok, want)
		}
	}

	// Each of these lacks a part, or has a value that the type cannot have.
	for _, arguments := range []string{
		"V", "Vi", "Vii", "ViN", "Vai4294967296", "Vde", "VdeP1", "Vde8", "Vrc8P1", "Vrc8P1d8P1", "VAya", "VAyaa", "VAyaa3",
		"VAyaa3_6162", "VAyaa1_6g", "VAiA2i1", "VHiiA1i1", "VS1a1sS1", "VPFZvf", "VPFZvf_D", "VPFZvf1a", "X9foo", "S", "S_D", "S91a", "Y",
	} {
		in := "_D1a__T1f" + arguments + "Z1gFZv"
		text, ok := Demangle([]byte(in))
		if text != in || ok {
			t.Errorf("%s: got %q, %v, want no change", in, text, ok)
		}
	}
}
