package demangle

import "testing"

// cxxScopes are names with scopes of dependent names, as g++ 12 and clang++ 14 mangle the
// same source. The texts are those of c++filt 2.40, but for three of Clang's in which a class
// or template is a member of a parameter: those are llvm-cxxfilt's, and, where llvm-cxxfilt
// refuses the name too, what the source says.
var cxxScopes = []struct{ what, in, want string }{
	{"g++, template", "_Z3f01I1QEN2enIXsr3hasIT_E5valueEE4typeEPS3_PS0_S8_S1_ILb1EE", "en<has<Q>::value>::type f01<Q>(Q*, Q*, Q*, en<true>)"},
	{"g++, in a namespace", "_Z3f02I1QEN2enIXsrN2ns3hasIT_EE5valueEE4typeEPS4_PS0_S9_S1_ILb1EE", "en<ns::has<Q>::value>::type f02<Q>(Q*, Q*, Q*, en<true>)"},
	{"g++, class in a template", "_Z3f03I1QEN2enIXsrN2ns3hasIT_E2inE5valueEE4typeEPS4_PS0_SA_S1_ILb1EE", "en<ns::has<Q>::in::value>::type f03<Q>(Q*, Q*, Q*, en<true>)"},
	{"g++, member of a parameter", "_Z3f04I1QEN2enIXsrNT_4typeE5valueEE4typeEPS2_PS0_S7_S1_ILb1EE", "en<Q::type::value>::type f04<Q>(Q*, Q*, Q*, en<true>)"},
	{"g++, template in a parameter", "_Z3f05I1QEN2enIXsrNT_2tmIS2_EE5valueEE4typeEPS2_PS0_S8_S1_ILb1EE", "en<Q::tm<Q>::value>::type f05<Q>(Q*, Q*, Q*, en<true>)"},
	{"g++, template in a class of a parameter", "_Z3f06I1QEN2enIXsrNT_4type2tmIS2_EE5valueEE4typeEPS2_PS0_S9_S1_ILb1EE", "en<Q::type::tm<Q>::value>::type f06<Q>(Q*, Q*, Q*, en<true>)"},
	{"g++, template parameter", "_Z3f07I3has1QEN2enIXsrT_IT0_E5valueEE4typeEPS4_PS1_S9_S2_ILb1EE", "en<has<Q>::value>::type f07<has, Q>(Q*, Q*, Q*, en<true>)"},
	{"g++, template in a template parameter", "_Z3f08I3has1QEN2enIXsrNT_IT0_E2tmIS4_EE5valueEE4typeEPS4_PS1_SB_S2_ILb1EE", "en<has<Q>::tm<Q>::value>::type f08<has, Q>(Q*, Q*, Q*, en<true>)"},
	{"g++, decltype", "_Z3f09I3hasI1QEEN2enIXsrDTcvT__EE5valueEE4typeEPS4_PS1_S9_S3_ILb1EE", "en<decltype ((has<Q>)())::value>::type f09<has<Q> >(has<Q>*, Q*, Q*, en<true>)"},
	{"g++, namespaces", "_Z3f10I1QEN2enIXsrN2ns2n22h2IT_EE5valueEE4typeEPS5_PS0_SA_S1_ILb1EE", "en<ns::n2::h2<Q>::value>::type f10<Q>(Q*, Q*, Q*, en<true>)"},
	{"g++, variable template", "_Z3f12I1QEN2enIXsr3hasIT_E2vtIS3_EEE4typeEPS3_PS0_S8_S1_ILb1EE", "en<has<Q>::vt<Q> >::type f12<Q>(Q*, Q*, Q*, en<true>)"},
	{"g++, thrice", "_Z3f13I1QEN2enIXaaaasr3hasIT_E5valuesrS4_5valuesrN2ns3hasIS3_EE5valueEE4typeEPS3_PS0_SB_PS4_S1_ILb1EE", "en<(has<Q>::value&&has<Q>::value)&&ns::has<Q>::value>::type f13<Q>(Q*, Q*, Q*, has<Q>*, en<true>)"},
	{"g++, operator", "_Z3f16I2otEDTcmadsrT_onplcvv_EEPS1_P1QS5_2enILb1EE", "decltype ((&ot::operator+),((void)())) f16<ot>(ot*, Q*, Q*, en<true>)"},
	{"g++, two kinds", "_Z3f18I3hasI1QES1_EDaPT0_PS1_S5_2enIXsrS0_IS3_E5valueEES6_IXsrNT_4typeE5valueEESA_S6_ILb1EE", "auto f18<has<Q>, Q>(Q*, Q*, Q*, en<has<Q>::value>, en<has<Q>::type::value>, has<Q>::type, en<true>)"},
	{"g++, substituted namespace", "_ZN2ns1gI1QEEN2enIXsrNS_3hasIT_E2inE5valueEE4typeEPS4_PS1_SA_S5_S2_ILb1EE", "en<ns::has<Q>::in::value>::type ns::g<Q>(Q*, Q*, Q*, ns::has<Q>, en<true>)"},
	{"g++, substituted namespace, template", "_ZN2ns1hI1QEEN2enIXsrNS_3hasIT_E2in2tmIS4_EE5valueEE4typeEPS4_PS1_SC_S5_S2_ILb1EE", "en<ns::has<Q>::in::tm<Q>::value>::type ns::h<Q>(Q*, Q*, Q*, ns::has<Q>, en<true>)"},
	{"clang, template", "_Z3f01I1QEN2enIXsr3hasIT_EE5valueEE4typeEPS2_PS0_S6_S1_ILb1EE", "en<has<Q>::value>::type f01<Q>(Q*, Q*, Q*, en<true>)"},
	{"clang, in a namespace", "_Z3f02I1QEN2enIXsr2ns3hasIT_EE5valueEE4typeEPS2_PS0_S6_S1_ILb1EE", "en<ns::has<Q>::value>::type f02<Q>(Q*, Q*, Q*, en<true>)"},
	{"clang, class in a template", "_Z3f03I1QEN2enIXsr2ns3hasIT_E2inE5valueEE4typeEPS2_PS0_S6_S1_ILb1EE", "en<ns::has<Q>::in::value>::type f03<Q>(Q*, Q*, Q*, en<true>)"},
	{"clang, member of a parameter", "_Z3f04I1QEN2enIXsrNT_4typeE5valueEE4typeEPS2_PS0_S6_S1_ILb1EE", "en<Q::type::value>::type f04<Q>(Q*, Q*, Q*, en<true>)"},
	{"clang, template in a parameter", "_Z3f05I1QEN2enIXsrNT_2tmIS2_EE5valueEE4typeEPS2_PS0_S6_S1_ILb1EE", "en<Q::tm<Q>::value>::type f05<Q>(Q*, Q*, Q*, en<true>)"},
	{"clang, template in a class of a parameter", "_Z3f06I1QEN2enIXsrNT_4type2tmIS2_EE5valueEE4typeEPS2_PS0_S6_S1_ILb1EE", "en<Q::type::tm<Q>::value>::type f06<Q>(Q*, Q*, Q*, en<true>)"},
	{"clang, template parameter", "_Z3f07I3has1QEN2enIXsrT_IT0_E5valueEE4typeEPS4_PS1_S9_S2_ILb1EE", "en<has<Q>::value>::type f07<has, Q>(Q*, Q*, Q*, en<true>)"},
	{"clang, template in a template parameter", "_Z3f08I3has1QEN2enIXsrNT_IT0_E2tmIS4_EE5valueEE4typeEPS4_PS1_S9_S2_ILb1EE", "en<has<Q>::tm<Q>::value>::type f08<has, Q>(Q*, Q*, Q*, en<true>)"},
	{"clang, decltype", "_Z3f09I3hasI1QEEN2enIXsrDTcvT__EE5valueEE4typeEPS4_PS1_S9_S3_ILb1EE", "en<decltype ((has<Q>)())::value>::type f09<has<Q> >(has<Q>*, Q*, Q*, en<true>)"},
	{"clang, namespaces", "_Z3f10I1QEN2enIXsr2ns2n22h2IT_EE5valueEE4typeEPS2_PS0_S6_S1_ILb1EE", "en<ns::n2::h2<Q>::value>::type f10<Q>(Q*, Q*, Q*, en<true>)"},
	{"clang, variable template", "_Z3f12I1QEN2enIXsr3hasIT_EE2vtIS2_EEE4typeEPS2_PS0_S6_S1_ILb1EE", "en<has<Q>::vt<Q> >::type f12<Q>(Q*, Q*, Q*, en<true>)"},
	{"clang, thrice", "_Z3f13I1QEN2enIXaaaasr3hasIT_EE5valuesr3hasIS2_EE5valuesr2ns3hasIS2_EE5valueEE4typeEPS2_PS0_S6_P3hasIS2_ES1_ILb1EE", "en<(has<Q>::value&&has<Q>::value)&&ns::has<Q>::value>::type f13<Q>(Q*, Q*, Q*, has<Q>*, en<true>)"},
	{"clang, operator", "_Z3f16I2otEDTcmadsrT_onplcvv_EEPS1_P1QS5_2enILb1EE", "decltype ((&ot::operator+),((void)())) f16<ot>(ot*, Q*, Q*, en<true>)"},
	{"clang, two kinds", "_Z3f18I3hasI1QES1_EDaPT0_PS1_S5_2enIXsr3hasIS3_EE5valueEES6_IXsrNT_4typeE5valueEENS8_4typeES6_ILb1EE", "auto f18<has<Q>, Q>(Q*, Q*, Q*, en<has<Q>::value>, en<has<Q>::type::value>, has<Q>::type, en<true>)"},
	{"clang, substituted namespace", "_ZN2ns1gI1QEEN2enIXsr2ns3hasIT_E2inE5valueEE4typeEPS3_PS1_S7_NS_3hasIS3_EES2_ILb1EE", "en<ns::has<Q>::in::value>::type ns::g<Q>(Q*, Q*, Q*, ns::has<Q>, en<true>)"},
	{"clang, substituted namespace, template", "_ZN2ns1hI1QEEN2enIXsr3hasIT_E2in2tmIS3_EE5valueEE4typeEPS3_PS1_S7_NS_3hasIS3_EES2_ILb1EE", "en<has<Q>::in::tm<Q>::value>::type ns::h<Q>(Q*, Q*, Q*, ns::has<Q>, en<true>)"},
	{"clang, std::swap", "_ZSt4swapI3RecENSt9enable_ifIXsr6__and_ISt6__not_ISt15__is_tuple_likeIT_EESt21is_move_constructibleIS4_ESt18is_move_assignableIS4_EEE5valueEvE4typeERS4_SD_", "std::enable_if<__and_<std::__not_<std::__is_tuple_like<Rec> >, std::is_move_constructible<Rec>, std::is_move_assignable<Rec> >::value, void>::type std::swap<Rec>(Rec&, Rec&)"},
	{"g++, std::swap", "_ZSt4swapI3RecENSt9enable_ifIXsrSt6__and_IJSt6__not_ISt15__is_tuple_likeIT_EESt21is_move_constructibleIS5_ESt18is_move_assignableIS5_EEE5valueEvE4typeERS5_SF_", "std::enable_if<std::__and_<std::__not_<std::__is_tuple_like<Rec> >, std::is_move_constructible<Rec>, std::is_move_assignable<Rec> >::value, void>::type std::swap<Rec>(Rec&, Rec&)"},
	{"clang, std::make_shared", "_ZSt11make_sharedI3RecJRKS0_EESt10shared_ptrINSt9enable_ifIXntsr8is_arrayIT_EE5valueES5_E4typeEEDpOT0_", "std::shared_ptr<std::enable_if<!is_array<Rec>::value, Rec>::type> std::make_shared<Rec, Rec const&>(Rec const&)"},
}

// TestCxxScopes: the names of both compilers come out right.
func TestCxxScopes(t *testing.T) {
	for _, test := range cxxScopes {
		if text, ok := Demangle([]byte(test.in)); text != test.want || !ok {
			t.Errorf("%s: %s:\n got  %q, %v\n want %q", test.what, test.in, text, ok, test.want)
		}
	}
}

// cxxPlainScopes are names of Clang 23 with -std=c++26 and libstdc++ 16 with constrained template
// parameters (Tn) and requires-clauses (Q). The texts are those of llvm-cxxfilt 19 without constraints.
var cxxPlainScopes = []struct{ in, want string }{
	{
		"_ZNSt5tupleIJRKlEEC2ILb1ETnNSt9enable_ifIXclsr4_TCCIXT_EEE29__is_implicitly_constructibleIS1_EEEbE4typeELb1EEES1_",
		"std::tuple<long const&>::tuple<true, true>(long const&)", // a template in the scope
	},
	{
		"_ZNSt4pairIPSt18_Rb_tree_node_baseS1_EC2IRS1_S4_TnNSt9enable_ifIXaaclsr5_PCCPE22_MoveConstructiblePairIT_T0_EEclsr5_PCCPE30_ImplicitlyMoveConvertiblePairIS6_S7_EEEbE4typeELb1EEEOS6_OS7_",
		"std::pair<std::_Rb_tree_node_base*, std::_Rb_tree_node_base*>::pair<std::_Rb_tree_node_base*&, std::_Rb_tree_node_base*&, true>(std::_Rb_tree_node_base*&, std::_Rb_tree_node_base*&)",
	},
	{
		"_ZNKSt10unique_ptrINSt6thread6_StateESt14default_deleteIS1_EEdeEvQrqXdeclsr3stdE7declvalINSt15__uniq_ptr_implIT_T0_E7pointerEEEE",
		"std::unique_ptr<std::thread::_State, std::default_delete<std::thread::_State> >::operator*() const",
	},
	{"_ZSt4swapIcQaaaantsr15__is_tuple_likeIT_EE5value23is_move_constructible_vIS0_E20is_move_assignable_vIS0_EEvRS0_S1_", "void std::swap<char>(char&, char&)"}, // a template in the scope
}

// TestCxxPlainScopes: constraints are not written.
func TestCxxPlainScopes(t *testing.T) {
	for _, test := range cxxPlainScopes {
		text, ok := Demangle([]byte(test.in))
		if ok != (test.want != "") || ok && text != test.want {
			t.Errorf("%s:\n got  %q, %v\n want %q", test.in, text, ok, test.want)
		}
	}
}

// TestCxxScopesLeft: names with damaged scopes stay mangled.
func TestCxxScopesLeft(t *testing.T) {
	for _, name := range []string{
		"_Z1fIiEv1aIXsr3hasIT_EEEE",                           // no name in the scope
		"_Z1fIiEv1aIXsr3hasIT_E",                              // cut
		"_Z1fIiEv1aIXsrN",                                     // cut
		"_Z1fIiEv1aIXsrNS",                                    // cut
		"_Z1fIiEv1aIXsrNS9_4typeE5valueEE",                    // no such substitution
		"_Z1fIiEv1aIXsrNi4typeE5valueEE",                      // a builtin type has no members
		"_Z1fIiEv1aIXsrNT_4typeE5valueEES99_",                 // no such substitution
		"_Z1fIiEv1aIXaasr3hasIT_EE5valuesrSt3hasIT_E5valueEE", // two compilers
		"_Z1fIiEv1aIXsr3hasIT_EEoncviEE",                      // a conversion
	} {
		if text, ok := Demangle([]byte(name)); ok {
			t.Errorf("%s: %q", name, text)
		}
	}
}
