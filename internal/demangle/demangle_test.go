package demangle

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"symkit/internal/demangle/lex"
	"symkit/test/testfile"
)

// TestDemangle: real names, by the compiler that wrote them.
func TestDemangle(t *testing.T) {
	tests := []struct {
		name string
		lang uint16
		in   string
		want string // "" where the name stays as it is
	}{
		// Itanium C++ ABI: g++ 12, clang++ 14.
		{"C++", 0, "_ZNSt6vectorIiSaIiEE9push_backEOi", "std::vector<int, std::allocator<int> >::push_back(int&&)"},
		{"C++ anonymous namespace", 0, "_ZN12_GLOBAL__N_13fooEv", "(anonymous namespace)::foo()"},
		{"C++ ABI tag", 0, "_ZN1SB3abcC1Ev", "S[abi:abc]::S()"},
		{"C++ lambda", 0, "_ZZ4mainENKUliE_clEi", "main::{lambda(int)#1}::operator()(int) const"},
		{"C++ thunk", 0, "_ZThn16_N1B1fEv", "non-virtual thunk to B::f()"},
		{"C++ clone", 0, "_ZN3foo3barEi.constprop.0.isra.0.cold", "foo::bar(int)"},
		{"C++ target", 0, "_Z3foov.avx2", "foo()"},
		{"C++ block", 0, "___Z3foov_block_invoke_2", "invocation function for block in foo()"},
		{"C++ ThinLTO", 0, "_ZL3addi.llvm.1234567890", "add(int)"},
		// rustc 1.95.
		{"Rust legacy", 0, "_ZN4core3fmt9Formatter9write_str17h0123456789abcdefE", "core::fmt::Formatter::write_str"},
		{"Rust legacy escapes", 0, "_ZN58_$LT$alloc..string..String$u20$as$u20$core..fmt..Debug$GT$3fmt17h0123456789abcdefE", "<alloc::string::String as core::fmt::Debug>::fmt"},
		{"Rust legacy with LLVM's suffix", 0, "_ZN4core3ptr4drop17h0123456789abcdefE.llvm.9876", "core::ptr::drop"},
		{"Rust v0", 0, "_RNvCs1234_7mycrate3foo", "mycrate::foo"},
		{"Rust legacy underscores", 0, "_ZN3std3sys9backtrace28__rust_begin_short_backtrace17hb9ccf8bcc7cba902E", "std::sys::backtrace::__rust_begin_short_backtrace"},
		{"Rust legacy escaped character", 0, "_ZN3foo12_$u7b$x$u7d$17h0123456789abcdefE", "foo::{x}"},
		{"Rust legacy, an identifier too long", 0, "_ZN99foo17h0123456789abcdefE", ""},
		{"Rust legacy not a hash", 0, "_ZN3foo17h0000000000000000E", "foo::h0000000000000000"},
		{"Rust v0 closures", 0, "_RNCNCNgCs6DXkGYLi8lr_2cc5spawn00B5_", "cc::spawn::{closure#0}::{closure#0}"},
		{"Rust v0 impl", 0, "_RNvXs_C1aNtB4_1bNtB4_1c3new", "<a::b as a::c>::new"},
		{"Rust v0 array", 0, "_RMC0INtC8arrayvec8ArrayVechKj7b_E", "<arrayvec::ArrayVec<u8, 123>>"},
		{"Rust v0 constants", 0, "_RIC1aKb1_Kc41_Kanb_KpKRe616263_E", `a::<true, 'A', -11, _, "abc">`},
		{"Rust v0 large constant", 0, "_RIC1aKo123456789abcdef01_E", "a::<0x123456789abcdef01>"},
		{"Rust v0 struct constant", 0, "_RIC1aKVNtC1a1bS1xh1_EE", "a::<{a::b { x: 1 }}>"},
		{"Rust v0 function pointer", 0, "_RIC1aFUKCRehEuE", `a::<unsafe extern "C" fn(&str, u8)>`},
		{"Rust v0 higher-ranked", 0, "_RIC1aFG_RL0_hEhE", "a::<for<'a> fn(&'a u8) -> u8>"},
		{"Rust v0 trait object", 0, "_RINbNbCskIICzLVDPPb_5alloc5alloc8box_freeDINbNiB4_5boxed5FnBoxuEp6OutputuEL_ECs1iopQbuBiw2_3std", "alloc::alloc::box_free::<dyn alloc::boxed::FnBox<(), Output = ()>>"},
		// The texts are rustc-demangle 0.1.28's.
		{"Rust v0 constant of a trait", 0, "_RIC1aDNtC1b1cp1NKj5_EL_E", "a::<dyn b::c<N = 5>>"},
		{"Rust v0 constant and types of a trait", 0, "_RIC1aDINtC1b1chEp1NKj5_p1TaEL_E", "a::<dyn b::c<u8, N = 5, T = i8>>"},
		{"Rust v0 boolean constant of a trait", 0, "_RINvC1a1bDNtC1c1dp1ADNtC1e1fp1BKb1_EL_EL_E", "a::b::<dyn c::d<A = dyn e::f<B = true>>>"},
		{"Rust v0 range", 0, "_RIC1aWhRh0_h7f_E", "a::<u8 is 0..=127>"},
		{"Rust v0 ranges", 0, "_RIC1aWjORj0_j5_Rj8_j9_EE", "a::<usize is 0..=5 | 8..=9>"},
		{"Rust v0 not null", 0, "_RIC1aWPhNE", "a::<*const u8 is !null>"},
		{"Rust v0 no pattern", 0, "_RIC1aWhTE", ""},
		{"Rust v0 pattern without end", 0, "_RIC1aWhON", ""},
		{"Rust v0 splat", 0, "_RIC1aFwThjEEuE", "a::<fn(#[splat] (u8, usize))>"},
		{"Rust v0 composed constants", 0, "_RIC1aKAh1_h2_EKTh1_b1_EKe61_KRRe61_KVNtC1a1bS1xh1_1yAVNtC1a1cUEEE",
			`a::<{[1, 2]}, {(1, true)}, {*"a"}, {&"a"}, {a::b { x: 1, y: [a::c] }}>`},
		{"Rust v0 references", 0, "_RIC1aKQh5_KRAe61_EKRe_E", `a::<{&mut 5}, {&[*"a"]}, "">`},
		{"Rust v0 variant", 0, "_RIC1aKVNtNtC1a1b1cTlnff_ce9_EE", "a::<{a::b::c(-255, 'é')}>"},
		{"Rust v0 characters", 0, "_RIC1aKc27_Kc22_Kc301_Kc200b_Kc0_Kca_Kcad_Ke9_E", ""},
		{"Rust v0 escapes", 0, "_RIC1aKc27_Kc22_Kc301_Kc200b_Kc0_Kca_Kcad_Kce9_E", `a::<'\'', '"', '\u{301}', '\u{200b}', '\0', '\n', '\u{ad}', 'é'>`},
		{"Rust v0 string's escapes", 0, "_RIC1aKRe22275c0a00c3a9_E", `a::<"\"'\\\n\0é">`},
		{"Rust v0 ABI in Unicode", 0, "_RIC1aFKu3c_aEuE", ""},
		{"Rust v0 no Punycode", 0, "_RNvC1au4b_Kz", "a::lex.Punycode{b-Kz}"},
		{"Rust v0 types", 0, "_RIC1aThEAOhj2_SQhPzTEE", "a::<(u8,), [*mut u8; 2], [&mut u8], *const !, ()>"},
		{"Rust v0 Unicode", 0, "_RNqCs4fqI2P2rA04_11utf8_identsu30____7hkackfecea1cbdathfdh9hlq6y", "utf8_idents::საჭმელად_გემრიელი_სადილი"},
		{"Rust v0 shim", 0, "_RNSNvC1a1b6vtables_0", ""},
		{"Rust v0 with LLVM's suffix", 0, "_RNvC9backtrace3foo.llvm.A5310EB9", "backtrace::foo"},
		{"Rust v0 reference forward", 0, "_RNvB9_3foo", ""},
		{"Rust v0 generic", 0, "_RINvNtC3std3mem8align_ofdE", "std::mem::align_of::<f64>"},
		// gdc 12, ldc 1.30; D ABI, "Name Mangling".
		{"D main", 0, "_Dmain", "D main"},
		{"D function", 0, "_D4main3fooFiZv", "main.foo(int)"},
		{"D method", 0, "_D1a1b3fooMxFZv", "a.b.foo() const"},
		{"D constructor", 0, "_D6object9Exception6__ctorMFNaNbNiNfAyaAyamC6object9ThrowableZC6object9Exception", "object.Exception.this(immutable(char)[], immutable(char)[], ulong, object.Throwable)"},
		{"D template", 0, "_D3std3utf__T10byCodeUnitTAyuZQrFQhZ__T14ByCodeUnitImplZQr5emptyMxFNaNbNdNiNfZb", "std.utf.byCodeUnit!(immutable(wchar)[]).byCodeUnit(immutable(wchar)[]).ByCodeUnitImpl!().ByCodeUnitImpl.empty() const"},
		{"D string argument", 0, "_D8demangle22__T4testVAyaa3_616263Z1xi", `demangle.test!("abc").x`},
		{"D delegate", 0, "_D8demangle4testFDFiZaZv", "demangle.test(char(int) delegate)"},
		{"D function pointer", 0, "_D8demangle4testFPFLAiYiZv", "demangle.test(int(lazy int[], ...) function)"},
		{"D associative array", 0, "_D8demangle4testFHAbHaaZv", "demangle.test(char[char][bool[]])"},
		{"D static array", 0, "_D1a1fFKG4294967296hZv", "a.f(ref ubyte[4294967296])"},
		{"D return scope", 0, "_D2rt8lifetime12__arrayStartFNaNbNkMS4core6memory8BlkInfo_ZPv", "rt.lifetime.__arrayStart(return scope core.memory.BlkInfo_)"},
		{"D module", 0, "_D6object12__ModuleInfoZ", "ModuleInfo for object"},
		{"D thunk of gdc", 0, "_DTi16_D4core8internal2gc4impl6manualQp8ManualGC11removeRangeMFNbNiPvZv", "thunk to core.internal.gc.impl.manual.gc.ManualGC.removeRange(void*)"},
		{"D thunk of ldc", 0, "_DThn16_4core9exception17SuppressTraceInfo7opApplyMxFMDFKmKxAaZiZi", "thunk to core.exception.SuppressTraceInfo.opApply(scope int(ref ulong, ref const(char[])) delegate) const"},
		{"D cold", 0, "_D4main3fooFiZv.cold", "main.foo(int)"},
		{"D no type", 0, "_D4main3foo", ""},
		{"D cut", 0, "_D4main3fo", ""},
		// gfortran 12, flang.
		{"Fortran module", 0, "__shapes_MOD_area", "shapes::area"},
		{"Fortran submodule", 0, "__shapes.impl_MOD_helper", "shapes.impl::helper"},
		{"Fortran made by the compiler", 0, "__shapes_MOD___copy_shapes_Square", "shapes::__copy_shapes_Square"},
		{"Fortran clone", 0, "__shapes_MOD_area.constprop.0", "shapes::area"},
		{"Fortran procedure", langFortran08, "plain_sub_", "plain_sub"},
		{"Fortran f77", langFortran77, "two_words__", "two_words"},
		{"Fortran main", langFortran08, "MAIN__", ""},
		{"Fortran procedure of C", 0, "plain_sub_", ""},
		{"flang", 0, "_QMshapesParea", "shapes::area"},
		{"flang host", 0, "_QMshapesFareaPtwice", "shapes::area::twice"},
		// ocamlopt 4.13; 5.1 writes the dot.
		{"OCaml", 0, "camlStdlib__List__iter_507", "Stdlib.List.iter_507"},
		{"OCaml function without a name", 0, "camlO__fun_167", "O.fun_167"},
		{"OCaml operator", 0, "camlO__$2b$21_85", "O.+!_85"},
		{"OCaml 5.1", 0, "camlStdlib__List.iter_507", "Stdlib.List.iter_507"},
		{"OCaml flambda", 0, "camlMain__fn$5bmain.ml$3a3$2c5$2d$2d9$5d_12", "Main.fn[main.ml:3,5--9]_12"},
		{"OCaml underscores", 0, "camlLexer____ocaml_lex_token_rec_1134", "Lexer.__ocaml_lex_token_rec_1134"},
		{"OCaml only underscores", 0, "camlO____", "O.__"},
		{"OCaml runtime", 0, "caml_alloc_small", ""},
		{"OCaml no character", 0, "camlO__$2b$zz_85", ""},
		{"OCaml cut character", 0, "camlO__a$2", ""},
		// gnat 12.
		{"Ada", langAda95, "ada__text_io__put_line__2", "ada.text_io.put_line"},
		{"Ada main", langAda95, "_ada_main", "main"},
		{"Ada operator", langAda2012, "ada__calendar__Oadd__2", `ada.calendar."+"`},
		{"Ada elaboration", langAda95, "ada__calendar__delays___elabb", "ada.calendar.delays'Elab_Body"},
		{"Ada stream", langAda95, "ada__directories__cursorSRXn", "ada.directories.cursor'Read"},
		{"Ada finalization", langAda95, "gnat__awk__actions__actionDAXn", "gnat.awk.actions.action.Adjust"},
		{"Ada nested", langAda95, "pkg__outer__inner.3", "pkg.outer.inner"},
		{"Ada task body", langAda95, "pkg__workerTKB", "pkg.worker"},
		{"Ada task declaration", langAda95, "pkg__workerTK__step", "pkg.worker.step"},
		{"Ada protected", langAda95, "pkg__lock__getN", "pkg.lock.get"},
		{"Ada entry", langAda95, "pkg__lock__seize_B7s", "pkg.lock.seize"},
		{"Ada cold", langAda95, "pkg__sub__2.cold", "pkg.sub"},
		{"Ada runtime in C", langAda95, "__gnat_raise", ""},
		{"Ada in C", 0, "pkg__sub__2", ""},
		// Swift 6.2; more in swift_test.go.
		{"Swift function", langSwift, "$s4main3fooyyF", "foo()"},
		{"Swift of unknown language", 0, "$s4main3FooC3baryySiF", "Foo.bar(_:)"},
		{"Swift clone", 0, "$s4main3FooC3baryySiF.resume.0", "Foo.bar(_:)"},
		{"Swift 4.0", langSwift, "_T04main3FooC3barySi1x_tF", "Foo.bar(x:)"},
		{"Swift 4.0 of unknown language", 0, "_T04main3FooC3barySi1x_tF", ""},
		{"Swift 3", langSwift, "_TtC4main3Foo", ""},
		// What stays.
		{"C", 0, "main", ""},
		{"C underscores", 0, "__libc_start_main", ""},
		{"C like Ada", 0, "foo__bar", ""},
		{"C like C++", 0, "_Zap", ""},
		{"C like Rust", 0, "_Run", ""},
		{"C like D", 0, "_Done", ""},
		{"C like flang", 0, "_Quit", ""},
		{"C global", 0, "_GLOBAL_OFFSET_TABLE_", ""},
		{"C nested", 0, "inner.3", ""},
		{"C clone", 0, "parse.part.0.cold", "parse"},
		{"C alias", 0, "parse.localalias", "parse"},
		{"C LTO", 0, "parse.lto_priv.0", "parse"},
		{"only a suffix", 0, ".cold", ""},
		{"Objective-C", 0x10, "-[Foo setBar:]", ""},
		{"Zig", langZig, "hash_map.part.0", ""},
		{"Zig of unknown language", 0, "hash_map.clone", ""},
		{"Go", langGo, "main.cold", ""},
		{"empty", 0, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text, ok := ForLanguage(tt.lang, []byte(tt.in))
			want, changed := tt.want, true
			if want == "" {
				want, changed = tt.in, false
			}
			if text != want || ok != changed {
				t.Errorf("%s: got %q, %v, want %q, %v", tt.in, text, ok, want, changed)
			}
		})
	}
}

// TestDemangleBounds: names that would grow without bounds, or take the stack.
func TestDemangleBounds(t *testing.T) {
	// Each tuple is twice the one before it.
	var d strings.Builder
	d.WriteString("_D1aFB2ii")
	for range 40 {
		d.WriteString("B2QdQf")
	}
	for _, in := range []string{
		d.String() + "Zv",
		"_D1aF" + strings.Repeat("A", 50000) + "iZv",
		"_Z1f" + strings.Repeat("P", 50000) + "i",
		"_Z" + strings.Repeat("1a", 100000),
		"_R" + strings.Repeat("Nv", 20000) + "C1a1b",
		"_D" + strings.Repeat("1a", 30000) + "Z",
		strings.Repeat("x.cold", 10000),
	} {
		begin := testfile.CPUTime()
		text, _ := Demangle([]byte(in))
		if took := testfile.CPUTime() - begin; took > 5*time.Second {
			t.Errorf("%.20s: took %v", in, took)
		}
		if len(text) > max(MaxLength, len(in)) {
			t.Errorf("%.20s: %d bytes", in, len(text))
		}
	}
}

// TestIsPrintable: bytes of all values, wherever they are.
func TestIsPrintable(t *testing.T) {
	for n := range 20 {
		s := bytes.Repeat([]byte{'a'}, n)
		if !lex.IsPrintable(s) {
			t.Errorf("%q is not", s)
		}
		for at := range s {
			for b := range 256 {
				s[at] = byte(b)
				if want := b >= 0x20 && b <= 0x7e; lex.IsPrintable(s) != want {
					t.Errorf("%q: %v", s, !want)
				}
			}
			s[at] = 'z'
		}
	}
}

// TestIsLabel: what no scheme explains is a label, unless it only looks damaged.
func TestIsLabel(t *testing.T) {
	for _, test := range []struct {
		lang uint16
		in   string
		want bool
	}{
		{0, "lab", true},
		{0, "__GI_warn", true},
		{0, "_Z", true},
		{0, "_Zdamaged", false},
		{0, "_ZN3foo3barEv", false},
		{0, "_RNvC6_123foo3bar", false},
		{0, "_D3foo3barFiZv", false},
		{0, "_Decimal", true},
		{0, "f.constprop.0", false},
		{0, "shapes__draw", true},
		{langAda95, "shapes__draw", false},
	} {
		if got := IsLabel(test.lang, []byte(test.in)); got != test.want {
			t.Errorf("%s of language %#x: %v", test.in, test.lang, got)
		}
	}
}

// TestSwiftLabel: a name of Swift is no assembler label, even if it cannot be read, in any language.
func TestSwiftLabel(t *testing.T) {
	for name, want := range map[string]bool{
		"$sSi3swoE5cubedSiyF": false, "$s4main9fooyyF": false, "_$s4main9fooyyF": false, "$e4main9fooyyF": false,
		"$s": true, "swift_retain": true, "$x.1": true,
	} {
		for _, lang := range []uint16{langSwift, 0, 0x1d} {
			if got := IsLabel(lang, []byte(name)); got != want {
				t.Errorf("IsLabel(%#x, %q) = %v", lang, name, got)
			}
		}
	}
}
