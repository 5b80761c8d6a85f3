package naming

import (
	"strings"
	"testing"
)

// TestOriginName checks the escape of an INLINE_ORIGIN that begins with a number.
func TestOriginName(t *testing.T) {
	for text, want := range map[string]string{
		`\x32 f`: "2 f", `\x2d1`: "-1", `\x1b`: `\x1b`, `\x66f`: `\x66f`, `\xzz`: `\xzz`, `\x3`: `\x3`, "f": "f", "": "",
	} {
		if got := OriginName(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestNames(t *testing.T) {
	table := NewTable()
	for _, test := range []struct {
		key    Key
		accept []string
		reject []string
	}{
		{
			Key{Linkage: "_ZNK2ns1S3getEi"},
			[]string{"ns::S::get(int) const", "_ZNK2ns1S3getEi", "ns::S::get"},
			[]string{"ns::S::get(long) const", "get", "ns::S::got", ""},
		},
		{
			Key{Linkage: "_D3foo3barFiZv", Name: "bar", Scope: "foo\x00"},
			[]string{"foo.bar", "_D3foo3barFiZv"},
			[]string{"foo.baz", "foo.bar(int)"}, // no code here reads the types
		},
		{
			Key{Linkage: "_ZN3std3sys9backtrace28__rust_begin_short_backtrace17h0123456789abcdefE"},
			[]string{"std::sys::backtrace::__rust_begin_short_backtrace"},
			[]string{"std::sys::backtrace::__rust_end_short_backtrace"},
		},
		{
			Key{Linkage: "camlStdlib__List__map_123"},
			[]string{"Stdlib.List.map_123"},
			[]string{"Stdlib.List.map_124", "List.map_123"},
		},
		{
			Key{Linkage: "__ieee_arithmetic_MOD_ieee_rem"},
			[]string{"ieee_arithmetic::ieee_rem"},
			[]string{"ieee_arithmetic::ieee_div"},
		},
		{
			Key{Linkage: "_Z3maxIiET_S0_S0_"},
			[]string{"int max<int>(int, int)", "max<int>(int, int)", "max<int>", "max"},
			[]string{"max<long>(int, int)", "min"},
		},
		{
			// As Mozilla's tool writes them: no return type, other literals, no
			// short names but in constructors.
			Key{Linkage: "_ZN3tr114_Fnv_hash_baseILm8EE4hashIcEEmPKT_m"},
			[]string{"tr1::_Fnv_hash_base<(unsigned long)8>::hash<char>(char const*, unsigned long)"},
			[]string{
				"tr1::_Fnv_hash_base<(unsigned long)9>::hash<char>(char const*, unsigned long)",
				"tr1::_Fnv_hash_base<(unsigned long)8>::hash<char>(char const*, unsigned int)",
				"tr1::_Fnv_hash_base<(unsigned long)8>::hash<char>(char const*)",
			},
		},
		{
			Key{Linkage: "_ZNSsC1EPKcRKSaIcE"},
			[]string{"std::string::string(char const*, std::allocator<char> const&)"},
			[]string{"std::string::string(std::allocator<char> const&)"},
		},
		{
			Key{Linkage: "_ZNSi7getlineEPclc"},
			[]string{"std::basic_istream<char, std::char_traits<char> >::getline(char*, long, char)"},
			[]string{"std::basic_ostream<char, std::char_traits<char> >::getline(char*, long, char)"},
		},
		{
			Key{Linkage: "_ZTv0_n24_NSt9strstreamD0Ev"},
			[]string{"{virtual override thunk({virtual offset(0, -24)}, std::strstream::~strstream())}"},
			[]string{"{virtual override thunk({offset(-16)}, std::strstream::~strstream())}"},
		},
		{
			Key{Linkage: "_ZNSt3pmr15__pool_resource9_BigBlockCI1NS_12_GLOBAL__N_19big_blockEEmm"},
			[]string{"std::pmr::__pool_resource::_BigBlock::big_block(unsigned long, unsigned long)"},
			[]string{"std::pmr::__pool_resource::_BigBlock::bad_block(unsigned long, unsigned long)"},
		},
		{
			Key{Linkage: "_ZN1S1fEv", Name: "f", Scope: "S\x00"},
			[]string{"S::f()", "S::f", "f"},
			[]string{"T::f", "T::f()", "S::f(int)"},
		},
		{
			Key{Linkage: "_RNvMs2_NtCsabc_4core3numl12wrapping_add", Name: "wrapping_add", Scope: "core\x00num\x00{impl#4}\x00"},
			[]string{"<i32>::wrapping_add"},
			[]string{"<i02>::wrapping_add"},
		},
		{
			Key{Linkage: "__GI_memcpy", Name: "memcpy"},
			[]string{"__GI_memcpy", "memcpy"},
			[]string{"__memcpy"},
		},
		{
			Key{Name: "halve", Scope: "shop\x00Bargain<int>\x00"},
			[]string{"halve", "shop::Bargain<int>::halve", "Bargain<int>::halve", "shop.Bargain.halve"},
			[]string{"Other::halve", "halved", "::"},
		},
		{
			Key{Name: "operator()", Scope: "main\x00\x00"},
			[]string{"operator()", "main::(anonymous)::operator()", "main::{lambda}::operator()", "main(int)::{lambda}::operator()", "C::main(int) const::{lambda}::operator()"},
			[]string{"other::{lambda}::operator()"},
		},
		{
			Key{Name: "operator()", Scope: "lambdas\x01_ZN4shop2v27lambdasEi\x00\x00"},
			[]string{"shop::v2::lambdas(int)::{lambda}::operator()", "lambdas::operator()"},
			[]string{"shop::v3::lambdas(int)::{lambda}::operator()"},
		},
		{
			Key{Name: "operator()", Scope: "key\x01_ZNK6option3keyB5cxx11Ev\x00\x00"},
			[]string{"option::key[abi:cxx11]() const::{lambda(int)#1}::operator()", "option::key() const::{lambda}::operator()"},
			[]string{"option::keys[abi:cxx11]() const::{lambda}::operator()"},
		},
		{
			Key{Name: "f", Scope: "\x00"},
			[]string{"(anonymous namespace)::f", "{anonymous}::f", "f"},
			[]string{"g"},
		},
		{Key{Name: "f", Traits: Traits{Far: true}}, []string{"f", "ns::f"}, []string{"ns::gf"}},
		{Key{}, []string{nameOmitted}, []string{"", "f"}},
		{
			Key{Linkage: "_RNvC6_123foo3bar"},
			[]string{"123foo::bar", "_RNvC6_123foo3bar"},
			[]string{"foo::bar"},
		},
	} {
		id := table.ID(test.key)
		for _, s := range test.accept {
			if !table.Accept(id, Normalise(s)) {
				t.Errorf("%+v: %q is not accepted", test.key, s)
			}
		}
		for _, s := range test.reject {
			if table.Accept(id, Normalise(s)) || table.Exact(id, []byte(s)) || table.Judge(id, s) == Right {
				t.Errorf("%+v: %q is accepted", test.key, s)
			}
		}
	}
}

// TestExact checks that the answer about a text does not depend on the texts before it.
func TestExact(t *testing.T) {
	key := Key{Linkage: "_ZN3foo3barIiEEvv"}
	const first, other, wrong = "void foo::bar<int>()", "void foo::bar<int> ()", "void foo::bar<long>()"
	for _, before := range []string{first, other, wrong} {
		table := NewTable()
		id := table.ID(key)
		table.Exact(id, []byte(before))
		for _, test := range []struct {
			text          string
			exact, accept bool
		}{{first, true, true}, {other, false, true}, {wrong, false, false}} {
			exact, accept := table.Exact(id, []byte(test.text)), table.Accept(id, Normalise(test.text))
			if exact != test.exact || accept != test.accept {
				t.Errorf("%q after %q: exact %v, accepted %v", test.text, before, exact, accept)
			}
		}
	}
}

func TestPaths(t *testing.T) {
	table := NewPaths()
	same := [][]string{
		{"/a/b.c", "/a/./b.c", "/a/x/../b.c", "//a/b.c"},
		{"a/b.c", "./a/b.c"},
		{"../b.c", "./../b.c"},
		{`C:\a\b.c`, "C:/a/b.c", `C:\a\.\b.c`},
	}
	seen := map[uint32]string{}
	for _, names := range same {
		id := table.ID([]byte(names[0]))
		if other, ok := seen[id]; ok || id == AnyPath {
			t.Errorf("%q has the number of %q", names[0], other)
		}
		seen[id] = names[0]
		for _, name := range names[1:] {
			if table.ID([]byte(name)) != id {
				t.Errorf("%q is not %q", name, names[0])
			}
		}
	}
}

// TestMost: a table keeps no name once the names have more bytes than it may keep.
func TestMost(t *testing.T) {
	table := NewTable()
	table.Most = 10
	for i := range 100 {
		id := table.ID(Key{Linkage: strings.Repeat("f", i+1)})
		if table.Size() > 10 && i > 4 && id != 0 {
			t.Fatalf("name %d has the number %d", i, id)
		}
	}
	if table.Size() <= 10 || table.Size() > 2*10 {
		t.Errorf("%d bytes are kept", table.Size())
	}
}

// TestJudge: where no code of this package reads a name rightly, a text with the name's words is not
// verified, and one of another function is wrong. Where the library errs, its text is no better.
func TestJudge(t *testing.T) {
	table := NewTable()
	for _, test := range []struct {
		key        Key
		unverified []string
		wrong      []string
		right      []string
	}{
		{
			// The library writes (long const volatile&, int const volatile&).
			Key{Linkage: "_Z1gIJVliEEvDpRKT_", Name: "g<long volatile, int>"},
			[]string{"void g<long volatile, int>(long volatile const&, int const&)", "void g<long volatile, int>(long const volatile&, int const volatile&)"},
			[]string{"void h<long volatile, int>(long volatile const&, int const&)", ""},
			[]string{"g<long volatile, int>", "_Z1gIJVliEEvDpRKT_"},
		},
		{
			// The library reads the parameters as (std::__is_tuple_like&, …).
			Key{Linkage: "_ZSt4swapI3RecENSt9enable_ifIXsr6__and_ISt6__not_ISt15__is_tuple_likeIT_EESt21is_move_constructibleIS4_ESt18is_move_assignableIS4_EEE5valueEvE4typeERS4_SD_", Name: "swap<Rec>", Scope: "std\x00"},
			[]string{"std::enable_if<__and_<std::__not_<std::__is_tuple_like<Rec> >, std::is_move_constructible<Rec>, std::is_move_assignable<Rec> >::value, void>::type std::swap<Rec>(Rec&, Rec&)"},
			[]string{"std::swip<Rec>", "std::swap<Ric>(Ric&, Ric&)"},
			[]string{"std::swap<Rec>"},
		},
		{Key{Linkage: "_Z2f3IiEvT_Q2C1IS0_E"}, []string{"void f3<int>(int)"}, []string{"void f4<int>(int)"}, nil},
		{
			Key{Linkage: "_Z2p8IJi1XEJlcEE1LIJDpSt4pairIT_T0_EEES1_IJDpS3_EES1_IJDpS4_EE"},
			[]string{"L<std::pair<int, long>, std::pair<X, char> > p8<int, X, long, char>(L<int, X>, L<long, char>)"},
			[]string{"L<std::pair<int, long>, std::pair<Y, char> > p8<int, Y, long, char>(L<int, Y>, L<long, char>)"}, nil,
		},
		{Key{Linkage: "_D3foo3barFiZv"}, []string{"foo.bar(int)"}, []string{"foo.baz(int)"}, []string{"_D3foo3barFiZv"}},
		{ // a bracket in a string is none
			Key{Linkage: "_D3std10functional__T6safeOpVAyaa1_3cZ__T8unsafeOpTmTiZQoFNaNbNiNfmiZb", Name: "unsafeOp", Scope: "std.functional\x00safeOp!\"<\"\x00"},
			[]string{`std.functional.safeOp!("<").unsafeOp!(ulong, int).unsafeOp(ulong, int)`}, []string{"unsafeOp(ulong, int).safeOp"}, nil,
		},
		{ // gdc has the template in the function that uses it, and in the module of that
			Key{Linkage: "_D3std5range__T11SortedRangeTASQBb3zip6MemberS_DQBp3zip5buildMFZ9__lambda6Z4saveMFZv", Name: "save", Scope: "build\x00SortedRange!(Member[], __lambda6)\x00"},
			[]string{"std.range.SortedRange!(std.zip.Member[], std.zip.build().__lambda6).SortedRange.save()"}, []string{"std.range.SortedRange.load()"}, nil,
		},
		{Key{Linkage: "_D3app5Stack10__postblitMFZv", Name: "__postblit", Scope: "app\x00Stack\x00"}, []string{"app.Stack.__postblit()"}, []string{"app.Stock.__postblit()"}, nil},
		{Key{Linkage: "$sSi3swoE5cubedSiyF"}, nil, []string{"Swift.Int.swo"}, []string{"Int.cubed()"}},
		{
			Key{Linkage: "_RNCNCNgCs6DXkGYLi8lr_2cc5spawn00B5_"},
			[]string{"cc::spawn::{closure#1}::{closure#0}"}, []string{"cc::spin::{closure#0}::{closure#0}"},
			[]string{"cc::spawn::{closure#0}::{closure#0}"},
		},
		{
			Key{Linkage: "_ZN4core3fmt9Formatter9write_str17h0123456789abcdefE"},
			nil, []string{"core::fmt::Formatter::write_fmt"}, []string{"core::fmt::Formatter::write_str"},
		},
		{Key{Linkage: "camlLexer____ocaml_lex_token_rec_1134"}, nil, []string{"Lexer__.ocaml_lex_token_rec_1134"}, []string{"Lexer.__ocaml_lex_token_rec_1134"}},
		{Key{Linkage: "_Dmain"}, nil, []string{"D mein"}, []string{"D main", "_Dmain"}},
		{
			Key{Linkage: "_RNvYNCNKNvNCNvC1a1B012STATE_OBJECT0s_0NtC1c6FnOnce9call_once"},
			[]string{"<a::B::{closure#0}::STATE_OBJECT::{K#0}::{closure#1} as c::FnOnce>::call_once"},
			[]string{"<a::B::{closure#0}::STATE_SUBJECT::{K#0}::{closure#1} as c::FnOnce>::call_once"}, nil,
		},
		{Key{Linkage: "_QMmodPproc"}, nil, []string{"mod::prok"}, []string{"mod::proc"}},
		{Key{Linkage: "_Z1f" + strings.Repeat("P", 300) + "i"}, []string{"f(int" + strings.Repeat("*", 300) + ")"}, []string{"g(int)"}, nil},
	} {
		id := table.ID(test.key)
		for verdict, texts := range [][]string{Wrong: test.wrong, Unverified: test.unverified, Right: test.right} {
			for _, text := range texts {
				if got := table.Judge(id, text); got != Verdict(verdict) {
					t.Errorf("%s: %q: verdict %d, want %d", test.key.Linkage, text, got, verdict)
				}
			}
		}
	}
}

// TestSwiftAccept: a name of Swift is accepted in Swift's spelling, as it stands, or as the plain name; nothing is
// accepted because the dumper wrote it.
func TestSwiftAccept(t *testing.T) {
	table := NewTable()
	id := table.ID(Key{Linkage: "$sSi3swoE5cubedSiyF", Name: "cubed"})
	for text, want := range map[string]bool{
		"Int.cubed()": true, "$sSi3swoE5cubedSiyF": true, "cubed": true,
		"Swift.Int.swo": false, "swo": false, "cubed(_:)": false, "Int.squared()": false, "UInt.cubed()": false,
	} {
		if got := table.Accept(id, Normalise(text)); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	if table.IsUnsure(id) || table.Judge(id, "Int.squared()") != Wrong {
		t.Error("a name that is read is undecided")
	}

	// A name that is not read verifies nothing, and refutes nothing.
	unread := table.ID(Key{Linkage: "$s4main3fooyyFWJrSpSr"})
	if table.Judge(unread, "foo()") != Unverified || table.Accept(unread, "foo()") || table.IsUnsure(table.ID(Key{Linkage: "main"})) {
		t.Error("a name that is not read is not undecided")
	}
}
