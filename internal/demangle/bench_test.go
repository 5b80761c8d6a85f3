package demangle

import "testing"

func BenchmarkDemangle(b *testing.B) {
	for _, bench := range []struct{ name, in string }{
		{"C", "some_function_of_a_c_program"},
		{"C++", "_ZNSt8_Rb_treeISsSt4pairIKSsiESt10_Select1stIS2_ESt4lessISsESaIS2_EE16_M_insert_uniqueERKS2_"},
		{"C++ with an expression", "_ZSt3getILm1EJPcS0_EERNSt13tuple_elementIXsrSt5tupleIJDpT0_EE1xES2_E4typeERS3_"},
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
