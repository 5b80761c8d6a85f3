package cxx

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"symkit/internal/demangle/lex"
)

// known are names and their texts, by the rule of the Itanium
// C++ ABI they show. g++ 12 and clang++ 14 wrote most of them.
var known = []struct{ rule, in, want string }{
	{"§5.1.2 data", "_ZN3foo3barE", "foo::bar"},
	{"§5.1.2 function", "_Z3fooi", "foo(int)"},
	{"§5.1.2 no arguments", "_Z3foov", "foo()"},
	{"§5.1.2 suffix", "_ZN3foo3barEi.constprop.0", "foo::bar(int)"},
	{"§5.1.2 template returns", "_Z3fooIiEvT_", "void foo<int>(int)"},
	{"§5.1.2 returns a function pointer", "_Z3fooIiEPFvT_ES0_", "void (*foo<int>(int))(int)"},
	{"§5.1.3 nested, qualified", "_ZNKR3foo3barEv", "foo::bar() const &"},
	{"§5.1.3 internal", "_ZL3foov", "foo()"},
	{"§5.1.3 anonymous namespace", "_ZN12_GLOBAL__N_13fooEv", "(anonymous namespace)::foo()"},
	{"§5.1.3 tags", "_ZN3foo3barB5cxx11B1aEv", "foo::bar[abi:cxx11][abi:a]()"},
	{"§5.1.3 operator", "_ZN3foolsIiEEvT_", "void foo::operator<< <int>(int)"},
	{"§5.1.3 operator new", "_ZN3foonwEm", "foo::operator new(unsigned long)"},
	{"§5.1.3 operator <=>", "_ZN3foossERKS_", "foo::operator<=>(foo const&)"},
	{"§5.1.3 literal operator", "_Zli2_xPKc", `operator"" _x(char const*)`},
	{"§5.1.3 conversion", "_ZN3foocvbEv", "foo::operator bool()"},
	{"§5.1.3 conversion of a template", "_ZN3fooIiEcvSt6vectorIiSaIiEEEv", "foo<int>::operator std::vector<int, std::allocator<int> >()"},
	{"§5.1.4 constructor", "_ZN3fooIiEC1Ev", "foo<int>::foo()"},
	{"§5.1.4 constructor template", "_ZN3fooC2IiEET_", "foo::foo<int>(int)"},
	{"§5.1.4 inherited constructor", "_ZN1bIcECI21aIcEEv", "b<char>::b()"},
	{"§5.1.4 inherited constructor, its parameter", "_ZN1bIcECI21aIiEET_", "b<char>::b(int)"},
	{"§5.1.4 inherited constructor, substitution", "_ZN1bCI21aIcEES0_", "b::b(a)"},
	{"§5.1.4 destructor", "_ZN3foo3barD0Ev", "foo::bar::~bar()"},
	{"§5.1.4 thunk", "_ZThn16_N1B1fEv", "non-virtual thunk to B::f()"},
	{"§5.1.4 virtual thunk", "_ZTv0_n24_N1B1fEv", "virtual thunk to B::f()"},
	{"§5.1.4 covariant thunk", "_ZTch0_v0_n24_N1B1fEv", "covariant return thunk to B::f()"},
	{"§5.1.4 vtable", "_ZTVN1a1bE", "vtable for a::b"},
	{"§5.1.4 VTT", "_ZTT1a", "VTT for a"},
	{"§5.1.4 typeinfo", "_ZTIPKi", "typeinfo for int const*"},
	{"§5.1.4 typeinfo name", "_ZTSi", "typeinfo name for int"},
	{"§5.1.4 construction vtable", "_ZTC1a0_1b", "construction vtable for b-in-a"},
	{"§5.1.4 guard", "_ZGVZ3foovE1x", "guard variable for foo()::x"},
	{"§5.1.4 TLS", "_ZTW1x", "TLS wrapper function for x"},
	{"§5.1.4 TLS init", "_ZTH1x", "TLS init function for x"},
	{"§5.1.5 builtins", "_Z1fabcdefghijlmnostwxyzDnDiDsDuDfDdDeDh", "f(signed char, bool, char, double, long double, float, __float128, unsigned char, int, " +
		"unsigned int, long, unsigned long, __int128, unsigned __int128, short, unsigned short, wchar_t, long long, unsigned long long, ..., " +
		"decltype(nullptr), char32_t, char16_t, char8_t, decimal32, decimal64, decimal128, half)"},
	{"§5.1.5 vendor's type", "_Z1fu3foo", "f(foo)"},
	{"§5.1.5 qualifiers", "_Z1fPVKcPrVKi", "f(char const volatile*, int const volatile restrict*)"},
	{"§5.1.5 references", "_Z1fRiOcCd", "f(int&, char&&, double _Complex)"},
	{"§5.1.5 collapsed", "_Z1fIRiOcEvOT_RT0_OS2_", "void f<int&, char&&>(int&, char&, int&)"},
	{"§5.1.5 qualified twice", "_Z1fIKiEvPKT_", "void f<int const>(int const*)"},
	{"§5.1.5 auto", "_Z1fIiEDaT_", "auto f<int>(int)"},
	{"§5.1.5 decltype(auto)", "_Z1fIiEDcT_", "decltype(auto) f<int>(int)"},
	{"§5.1.5 function pointers", "_Z1fPFivEPFPFvcEsE", "f(int (*)(), void (*(*)(short))(char))"},
	{"§5.1.5 noexcept", "_Z1fPDoFivE", "f(int (*)() noexcept)"},
	{"§5.1.5 qualified function", "_Z1fPKFvvEPVKFviE", "f(void (*)() const, void (*)(int) const volatile)"},
	{"§5.1.5 function with ref-qualifier", "_Z1fM1aFvvOE", "f(void (a::*)() &&)"},
	{"§5.1.5 arrays", "_Z1fRA3_A4_iPA_c", "f(int (&) [3][4], char (*) [])"},
	{"§5.1.5 array of const", "_Z1fRA3_KiPKA2_i", "f(int const (&) [3], int const (*) [2])"},
	{"§5.1.5 array of a parameter", "_Z1fIKiEvRA3_T_", "void f<int const>(int const (&) [3])"},
	{"§5.1.5 members", "_Z1fM1aiMS_FvvEMS_KFivE", "f(int a::*, void (a::*)(), int (a::*)() const)"},
	{"§5.1.5 vector", "_Z1fDv4_f", "f(float __vector(4))"},
	{"§5.1.6 packs", "_Z1fIJicEEvDpT_", "void f<int, char>(int, char)"},
	{"§5.1.6 pack of functions", "_Z1fIJFivEEEvPT_DpPT_", "void f<int ()>(int (*)(), int (*)())"},
	{"§5.1.6 empty packs", "_Z1fIJEJJEEiEv1aIT_JEiEDpT_i", "void f<int>(a<int>, int)"},
	{"§5.1.6 empty pack", "_Z1fIJEEvDpT_", "void f<>()"},
	{"§5.1.6 pack of references", "_Z1fIJiRcOdEEvDpOT_", "void f<int, char&, double&&>(int&&, char&, double&&)"},
	{"§5.1.6 pack of references twice", "_Z1fIJiRcOdEEvDpORT_DpROT_", "void f<int, char&, double&&>(int&, char&, double&, int&, char&, double&)"},
	{"§5.1.6 pack in a template", "_Z1fIJicEEvSt5tupleIJDpRKT_EE", "void f<int, char>(std::tuple<int const&, char const&>)"},
	{"§5.1.6 pack in functions", "_Z1fIJicEEvDpPFvT_E", "void f<int, char>(void (*)(int), void (*)(char))"},
	{"§5.1.6 pack in arrays", "_Z1fIJicEEvDpRA2_KT_", "void f<int, char>(int const (&) [2], char const (&) [2])"},
	{"§5.1.6 pack in members", "_Z1fIJicEEvDpM1aT_", "void f<int, char>(int a::*, char a::*)"},
	{"§5.1.6 literals", "_Z1fILi3ELin4ELb1ELb0ELj5ELm6ELx7ELc65EEvv", "void f<3, -4, true, false, 5u, 6ul, 7ll, (char)65>()"},
	{"§5.1.6 nullptr", "_Z1fILDnEEvv", "void f<decltype(nullptr)>()"},
	{"§5.1.6 enumerator", "_Z1fIL1e2EEvv", "void f<(e)2>()"},
	{"§5.1.6 float", "_Z1fILd3ff0000000000000EEvv", "void f<(double)[3ff0000000000000]>()"},
	{"§5.1.6 function as an argument", "_Z1fIL_Z1gvEEvv", "void f<g()>()"},
	{"§5.1.6 address of a function", "_Z1fIXadL_Z1gvEEEvv", "void f<&(g())>()"},
	{"§5.1.6 address of a function template", "_Z1fIXadL_Z1gIiEvvEEEvv", "void f<&(void g<int>())>()"},
	{"§5.1.6 address of a method", "_Z1fIXadL_ZNK1a1gEvEEEvv", "void f<&(a::g() const)>()"},
	{"§5.1.6 address of data", "_Z1fIXadL_ZN1a1gEEEEvv", "void f<&a::g>()"},
	{"§5.1.6 parameter as a value", "_Z1fILi3EEv1aIXT_EE", "void f<3>(a<3>)"},
	{"§5.1.6 pack of values", "_Z1fIJLi3ELi4EEEv1aIJXspT_EEE", "void f<3, 4>(a<3, 4>)"},
	{"§5.1.6 operators", "_Z1fILi3EEv1aIXaantgtT_Li2EooeqT_Li1EltngT_Li4EEE", "void f<3>(a<(!(((3)>(2))))&&(((3)==(1))||((-(3))<(4)))>)"},
	{"§5.1.6 decltype", "_Z1fIiEDTfp_ET_", "decltype ({parm#1}) f<int>(int)"},
	{"§5.1.6 decltype of this", "_ZN1a1fIiEEDTptfpT1gIT_EEv", "decltype (this->(g<int>)) a::f<int>()"},
	{"§5.1.6 decltype of a call", "_Z1fI1aiEDTcldtfp_1gcl1hIT0_Efp0_ELj2EEET_i", "decltype (({parm#1}.g)((h<int>)({parm#2}), 2u)) f<a, int>(a, int)"},
	{"§5.1.6 decltype of a call with a pack", "_Z1fIJicEEDTcl1gspcl7forwardIT_Efp_EEEDpT_", "decltype (g((forward<int>)({parm#1}), (forward<char>)({parm#1}))) f<int, char>(int, char)"},
	{"§5.1.6 sizeof", "_Z1fIiEv1aIXeqstT_stPFvvEEE", "void f<int>(a<(sizeof (int))==(sizeof (void (*)()))>)"},
	{"§5.1.6 member of a type", "_Z1fISt6vectorIiSaIiEEEv1aIXsrT_5valueEE", "void f<std::vector<int, std::allocator<int> > >(a<std::vector<int, std::allocator<int> >::value>)"},
	{"§5.1.6 member of a substitution", "_Z1fI1bIiEEv1aIXntsrS1_5valueEE", "void f<b<int> >(a<!b<int>::value>)"},
	{"§5.1.6 member of names", "_ZN1n1fIiEEv1aIXsrNS_1bIT_EE5valueEE", "void n::f<int>(a<n::b<int>::value>)"},
	{"§5.1.6 member of a global name", "_Z1fIiEv1aIXsr1bIT_EE5valueEE", "void f<int>(a<b<int>::value>)"},
	{"§5.1.6 variable template", "_Z1fIiEv1aIX4is_vIT_EEE", "void f<int>(a<is_v<int> >)"},
	{"§5.1.6 literal as an expression", "_Z1fIXLi3EEEvv", "void f<3>()"},
	{"§5.1.6 template of a template", "_Z1fI1aiEvT_IT0_E", "void f<a, int>(a<int>)"},
	{"§5.1.6 > behind >", "_Z1f1aI1bIiEE", "f(a<b<int> >)"},
	{"§5.1.7 local", "_ZZ1fvE1x", "f()::x"},
	{"§5.1.7 local of a template", "_ZZ1fIiEvT_EN1a1gEv", "f<int>(int)::a::g()"},
	{"§5.1.7 local, qualified", "_ZZN1a1fEvENK1b1gEv", "a::f()::b::g() const"},
	{"§5.1.7 local, discriminators", "_ZZ1fvE1x_0", "f()::x"},
	{"§5.1.7 local, long discriminator", "_ZZ1fvE1x__12_", "f()::x"},
	{"§5.1.7 string", "_ZZ1fvEs_0", "f()::string literal"},
	{"§5.1.7 default argument", "_ZZ1fiEd0_NKUlvE_clEv", "f(int)::{default arg#2}::{lambda()#1}::operator()() const"},
	{"§5.1.8 lambda", "_ZZ1fvENKUlicE_clEic", "f()::{lambda(int, char)#1}::operator()(int, char) const"},
	{"§5.1.8 generic lambda, its parameters elsewhere", "_ZZ1fvENKUlT_T0_E_clIicEEDaS_S0_", "auto f()::{lambda(auto:1, auto:2)#1}::operator()<int, char>(int, char) const"},
	{"§5.1.8 generic lambda, the function's parameter", "_ZZN1a1fI1bEEbRT_ENKUlS3_E_clIiEEDaS3_", "auto a::f<b>(b&)::{lambda(auto:1&)#1}::operator()<int>(int&) const"},
	{"§5.1.8 second lambda", "_ZZ1fvENKUlvE0_clEv", "f()::{lambda()#2}::operator()() const"},
	{"§5.1.8 lambda with the function's pack", "_Z1fIJicEEvUlDpT_E_", "void f<int, char>({lambda((auto:1)...)#1})"},
	{"§5.1.8 lambda of a member", "_ZN1aMUlvE_clEv", "a::{lambda()#1}::operator()()"},
	{"§5.1.8 unnamed type", "_ZN1aUt_1fEv", "a::{unnamed type#1}::f()"},
	{"§5.1.10 substitutions", "_ZN1a1fERKS_PS0_N1b1cES4_", "a::f(a const&, a const*, b::c, b::c)"},
	{"§5.1.10 of std", "_Z1fSsSaIcESt4pairISiSoERSdSbIcE", "f(std::string, std::allocator<char>, std::pair<std::istream, std::ostream>, std::iostream&, std::basic_string<char>)"},
	{"§5.1.10 another template's parameter", "_Z1fI1bZ1gIcEvPT_1aIS2_EEUlvE_EvT0_S3_S5_", "void f<b, g<char>(char*, a<char>)::{lambda()#1}>(g<char>(char*, a<char>)::{lambda()#1}, b*, a<b>)"},
	{"§5.1.10 tagged", "_Z1fSsB5cxx11S0_", "f(std::string[abi:cxx11], std::string[abi:cxx11])"},
}

// TestKnown: they come out so.
func TestKnown(t *testing.T) {
	var d Reader
	for _, test := range known {
		if text, ok := d.text([]byte(test.in)); text != test.want || !ok {
			t.Errorf("%s: %s:\n got  %q, %v\n want %q", test.rule, test.in, text, ok, test.want)
		}
	}
}

// parts are parts of names.
var parts = strings.Fields(`P R O K PK RK PFivE FivE T_ T0_ S_ S0_ S1_ S2_ S3_ JE JicE IiE DpT_ DpOT_ A3_i M1ai Li3E Lb1E L1e2E
	NK1a1bE Z1fvE1x ZNK1a1fEvEUlvE_ UlvE_ UliE0_ UlT_E_ Ut_ Ss Sa St3foo B5cxx11 C2 D1 v i KFvvE FvvOE FFviEcE PFFviEcE DnE LDn0E E cvT_ cvi
	ls lt I J Z N XaaT_T0_E Dv4_f 12_GLOBAL__N_1 CI21aIcE JJEJEE IJEE JFivEE JFivEiE`)

// TestMutated inserts parts of names into names: they come out the same again, and bounded.
func TestMutated(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	var d Reader
	read := 0
	for range 20_000 {
		name := []byte(known[rnd.IntN(len(known))].in)
		for range 1 + rnd.IntN(3) {
			at := 2 + rnd.IntN(len(name)-2)
			until := min(at+max(rnd.IntN(6)-3, 0), len(name))
			name = slices.Replace(name, at, until, []byte(parts[rnd.IntN(len(parts))])...)
		}
		sameAfter(t, &d, name)
		if text, ok := d.text(name); ok {
			read++
			if len(text) > lex.MaxLength {
				t.Errorf("%s: %d bytes", name, len(text))
			}
		}
	}
	if read < 2000 {
		t.Errorf("only %d names are known", read)
	}
}

// left are damaged names.
var left = []struct{ why, in string }{
	{"not mangled", "main"},
	{"empty", "_Z"},
	{"cut in a name", "_Z5foo"},
	{"cut in a nested name", "_ZN3foo"},
	{"no E", "_ZN3foo3barv"},
	{"name of length 0", "_Z0v"},
	{"huge length", "_Z99999999999a"},
	{"no name in N", "_ZNEv"},
	{"constructor of nothing", "_ZNC1Ev"},
	{"constructor of another kind", "_ZN1aC9Ev"},
	{"inherited from nothing", "_ZN1aCI1Ei"},
	{"inherited from a parameter", "_ZN1aCI1T_Ei"},
	{"destructor of another kind", "_ZN1aD3Ev"},
	{"unknown operator", "_ZN1aqqEv"},
	{"cast outside of classes", "_Zcvbv"},
	{"no template to name", "_Z1fT_"},
	{"parameter out of range", "_Z1fIiEvT0_"},
	{"parameter of a level", "_Z1fIiEvTL0__"},
	{"substitution out of range", "_Z1fS_"},
	{"substitution of what", "_Z1fSq"},
	{"cut in a substitution", "_Z1fS"},
	{"another template's parameter", "_ZZ1fIiEvPT_EN1a1gES0_"},
	{"lambda with the function's parameter", "_Z1fIiEvUlT_E_S1_"},
	{"reference to a reference", "_Z1fRRi"},
	{"qualifiers twice", "_Z1fPKKi"},
	{"function called as a type", "_ZZ1fPK1aIiEES0_i"},
	{"function called as a method's type", "_ZZ1fFvvOEvES_NKUlvE0_clEv"},
	{"method of a qualified type", "_Z1fPKiNKS_E"},
	{"decltype of what", "_Z1fIiEDTqq_ET_"},
	{"no value", "_Z1fILiEEvv"},
	{"bad letter of D", "_Z1fDz"},
	{"bad type", "_Z1fk"},
	{"bad thunk", "_ZThx_1fv"},
	{"bad offset", "_ZTcx0_h0_1fv"},
	{"unnamed enumeration", "_ZN1aUei1bE1fEv"},
}

// TestLeft: they are.
func TestLeft(t *testing.T) {
	for _, test := range left {
		if text, ok := new(Reader).text([]byte(test.in)); ok {
			t.Errorf("%s: %s: %q", test.why, test.in, text)
		}
	}
}
