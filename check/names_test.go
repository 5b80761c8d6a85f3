package check

import "testing"

func TestNames(t *testing.T) {
	table := newNameTable()
	for _, test := range []struct {
		key    nameKey
		accept []string
		reject []string
	}{
		{
			nameKey{linkage: "_ZNK2ns1S3getEi"},
			[]string{"ns::S::get(int) const", "_ZNK2ns1S3getEi", "ns::S::get"},
			[]string{"ns::S::get(long) const", "get", "ns::S::got", ""},
		},
		{
			nameKey{linkage: "_D3foo3barFiZv"},
			[]string{"foo.bar(int)", "_D3foo3barFiZv"},
			[]string{"foo.bar(long)", "foo.baz(int)"},
		},
		{
			nameKey{linkage: "_ZN3std3sys9backtrace28__rust_begin_short_backtrace17h0123456789abcdefE"},
			[]string{"std::sys::backtrace::__rust_begin_short_backtrace"},
			[]string{"std::sys::backtrace::__rust_end_short_backtrace"},
		},
		{
			nameKey{linkage: "camlStdlib__List__map_123"},
			[]string{"Stdlib.List.map_123"},
			[]string{"Stdlib.List.map_124", "List.map_123"},
		},
		{
			nameKey{linkage: "__ieee_arithmetic_MOD_ieee_rem"},
			[]string{"ieee_arithmetic::ieee_rem"},
			[]string{"ieee_arithmetic::ieee_div"},
		},
		{
			nameKey{linkage: "_Z3maxIiET_S0_S0_"},
			[]string{"int max<int>(int, int)", "max<int>(int, int)", "max<int>", "max"},
			[]string{"max<long>(int, int)", "min"},
		},
		{
			// As Mozilla's tool writes them: no return type, other literals, no
			// short names but in constructors.
			nameKey{linkage: "_ZN3tr114_Fnv_hash_baseILm8EE4hashIcEEmPKT_m"},
			[]string{"tr1::_Fnv_hash_base<(unsigned long)8>::hash<char>(char const*, unsigned long)"},
			[]string{
				"tr1::_Fnv_hash_base<(unsigned long)9>::hash<char>(char const*, unsigned long)",
				"tr1::_Fnv_hash_base<(unsigned long)8>::hash<char>(char const*, unsigned int)",
				"tr1::_Fnv_hash_base<(unsigned long)8>::hash<char>(char const*)",
			},
		},
		{
			// The library reads the parameters as (std::__is_tuple_like&, …).
			nameKey{linkage: "_ZSt4swapI3RecENSt9enable_ifIXsr6__and_ISt6__not_ISt15__is_tuple_likeIT_EESt21is_move_constructibleIS4_ESt18is_move_assignableIS4_EEE5valueEvE4typeERS4_SD_", name: "swap<Rec>", scope: "std\x00"},
			[]string{
				"std::enable_if<__and_<std::__not_<std::__is_tuple_like<Rec> >, std::is_move_constructible<Rec>, std::is_move_assignable<Rec> >::value, void>::type std::swap<Rec>(Rec&, Rec&)",
				"std::swap<Rec>",
			},
			[]string{
				"std::enable_if<__and_<std::__not_<std::__is_tuple_like<Rec> >, std::is_move_constructible<std::__is_tuple_like>, std::is_move_assignable<std::__is_tuple_like> >::value, void>::type std::swap<Rec>(std::__is_tuple_like&, std::is_move_assignable<std::__is_tuple_like>)",
				"std::swip<Rec>",
			},
		},
		{
			nameKey{linkage: "_ZNSsC1EPKcRKSaIcE"},
			[]string{"std::string::string(char const*, std::allocator<char> const&)"},
			[]string{"std::string::string(std::allocator<char> const&)"},
		},
		{
			nameKey{linkage: "_ZNSi7getlineEPclc"},
			[]string{"std::basic_istream<char, std::char_traits<char> >::getline(char*, long, char)"},
			[]string{"std::basic_ostream<char, std::char_traits<char> >::getline(char*, long, char)"},
		},
		{
			nameKey{linkage: "_ZTv0_n24_NSt9strstreamD0Ev"},
			[]string{"{virtual override thunk({virtual offset(0, -24)}, std::strstream::~strstream())}"},
			[]string{"{virtual override thunk({offset(-16)}, std::strstream::~strstream())}"},
		},
		{
			nameKey{linkage: "_ZNSt3pmr15__pool_resource9_BigBlockCI1NS_12_GLOBAL__N_19big_blockEEmm"},
			[]string{"std::pmr::__pool_resource::_BigBlock::big_block(unsigned long, unsigned long)"},
			[]string{"std::pmr::__pool_resource::_BigBlock::bad_block(unsigned long, unsigned long)"},
		},
		{
			nameKey{linkage: "_ZN1S1fEv", name: "f", scope: "S\x00"},
			[]string{"S::f()", "S::f", "f"},
			[]string{"T::f", "T::f()", "S::f(int)"},
		},
		{
			nameKey{linkage: "_RNvMs2_NtCsabc_4core3numl12wrapping_add", name: "wrapping_add", scope: "core\x00num\x00{impl#4}\x00"},
			[]string{"<i32>::wrapping_add"},
			[]string{"<i02>::wrapping_add"},
		},
		{
			nameKey{linkage: "__GI_memcpy", name: "memcpy"},
			[]string{"__GI_memcpy", "memcpy"},
			[]string{"__memcpy"},
		},
		{
			nameKey{name: "halve", scope: "shop\x00Bargain<int>\x00"},
			[]string{"halve", "shop::Bargain<int>::halve", "Bargain<int>::halve", "shop.Bargain.halve"},
			[]string{"Other::halve", "halved", "::"},
		},
		{
			nameKey{name: "operator()", scope: "main\x00\x00"},
			[]string{"operator()", "main::(anonymous)::operator()", "main::{lambda}::operator()", "main(int)::{lambda}::operator()", "C::main(int) const::{lambda}::operator()"},
			[]string{"other::{lambda}::operator()"},
		},
		{
			nameKey{name: "operator()", scope: "lambdas\x01_ZN4shop2v27lambdasEi\x00\x00"},
			[]string{"shop::v2::lambdas(int)::{lambda}::operator()", "lambdas::operator()"},
			[]string{"shop::v3::lambdas(int)::{lambda}::operator()"},
		},
		{
			nameKey{name: "operator()", scope: "key\x01_ZNK6option3keyB5cxx11Ev\x00\x00"},
			[]string{"option::key[abi:cxx11]() const::{lambda(int)#1}::operator()", "option::key() const::{lambda}::operator()"},
			[]string{"option::keys[abi:cxx11]() const::{lambda}::operator()"},
		},
		{
			nameKey{name: "f", scope: "\x00"},
			[]string{"(anonymous namespace)::f", "{anonymous}::f", "f"},
			[]string{"g"},
		},
		{nameKey{name: "f", far: true}, []string{"f", "ns::f"}, []string{"ns::gf"}},
		{nameKey{}, []string{nameOmitted}, []string{"", "f"}},
		{
			nameKey{linkage: "_RNvC6_123foo3bar"},
			[]string{"123foo::bar", "_RNvC6_123foo3bar"},
			[]string{"foo::bar"},
		},
	} {
		id := table.id(test.key)
		for _, s := range test.accept {
			if !table.accept(id, normalise(s)) {
				t.Errorf("%+v: %q is not accepted", test.key, s)
			}
		}
		for _, s := range test.reject {
			if table.accept(id, normalise(s)) {
				t.Errorf("%+v: %q is accepted", test.key, s)
			}
		}
	}
}

func TestPaths(t *testing.T) {
	table := newPathTable()
	same := [][]string{
		{"/a/b.c", "/a/./b.c", "/a/x/../b.c", "//a/b.c"},
		{"a/b.c", "./a/b.c"},
		{"../b.c", "./../b.c"},
		{`C:\a\b.c`, "C:/a/b.c", `C:\a\.\b.c`},
	}
	seen := map[uint32]string{}
	for _, names := range same {
		id := table.id(names[0])
		if other, ok := seen[id]; ok || id == anyPath {
			t.Errorf("%q has the number of %q", names[0], other)
		}
		seen[id] = names[0]
		for _, name := range names[1:] {
			if table.id(name) != id {
				t.Errorf("%q is not %q", name, names[0])
			}
		}
	}
}
