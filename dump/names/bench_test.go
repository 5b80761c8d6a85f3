package names

import (
	"testing"

	"symkit/internal/testfile"
)

// TestAllocs: a plain name costs the string it is returned in; its base nothing.
func TestAllocs(t *testing.T) {
	if testfile.Race {
		t.Skip("the race detector allocates")
	}
	name := []byte("some_function_of_a_c_program")
	if n := testing.AllocsPerRun(100, func() { Demangle(name) }); n > 1 {
		t.Errorf("Demangle: %v allocations", n)
	}
	name = []byte("_ZNSt6vectorIiSaIiEE9push_backEOi")
	if n := testing.AllocsPerRun(100, func() { Demangle(name) }); n > 1 {
		t.Errorf("Demangle of C++: %v allocations", n)
	}
	name = []byte("some_function.constprop.0.cold")
	if n := testing.AllocsPerRun(100, func() { Base(name) }); n > 0 {
		t.Errorf("Base: %v allocations", n)
	}
}

func BenchmarkDemangle(b *testing.B) {
	for _, bench := range []struct{ name, in string }{
		{"C", "some_function_of_a_c_program"},
		{"C++", "_ZNSt8_Rb_treeISsSt4pairIKSsiESt10_Select1stIS2_ESt4lessISsESaIS2_EE16_M_insert_uniqueERKS2_"},
		{"C++ left to the library", "_ZSt3getILm1EJPcS0_EERNSt13tuple_elementIXsrSt5tupleIJDpT0_EE1xES2_E4typeERS3_"},
		{"Rust", "_RNvMs0_NtNtCs1234_5alloc3vec6VecExtINtB5_3VecmE4push"},
		{"D", "_D3std3utf__T10byCodeUnitTAyuZQrFQhZ__T14ByCodeUnitImplZQr5emptyMxFNaNbNdNiNfZb"},
	} {
		b.Run(bench.name, func(b *testing.B) {
			name := []byte(bench.in)
			b.ReportAllocs()
			for b.Loop() {
				Demangle(name)
			}
		})
	}
}
