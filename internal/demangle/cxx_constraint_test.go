package demangle

import "testing"

// cxxConstrained are names of Clang 22 with libc++ 22 (nqe220108 is the tag of its functions) and with
// libstdc++ 16, -std=c++26, that the library refuses or misreads: declarations of template parameters (Tn, Tk),
// constraints (Q) with requires-expressions (rQ, rq), folds, parameters of inner templates (TL0__) and operators of the
// compiler (u9__is_same), and constructors with a tag. The texts agree with llvm-cxxfilt 22, which
// writes T, T0 for some parameters, where these have the arguments.
var cxxConstrained = []struct{ in, want string }{
	{
		"_ZNKSt6ranges5views4_ZipclIJRSt6vectorI3RecSaIS4_EES7_EQooeqsZT_Li0Esr8__detailE14__can_zip_viewIDpT_EEEDaDpOS8_",
		"auto std::ranges::views::_Zip::operator()<std::vector<Rec, std::allocator<Rec> >&, std::vector<Rec, std::allocator<Rec> >&>(std::vector<Rec, std::allocator<Rec> >&, std::vector<Rec, std::allocator<Rec> >&) const",
	},
	{
		"_ZNSt3__110unique_ptrI3RecNS_14default_deleteIS1_EEEC2B9nqe220108ILb1EvEEPS1_",
		"std::__1::unique_ptr<Rec, std::__1::default_delete<Rec> >::unique_ptr[abi:nqe220108]<true, void>(Rec*)",
	},
	{
		"_ZNSt3__111make_sharedB9nqe220108I3RecJS1_ETnNS_9enable_ifIXntsr8is_arrayIT_EE5valueEiE4typeELi0EEENS_10shared_ptrIS3_EEDpOT0_",
		"std::__1::shared_ptr<Rec> std::__1::make_shared[abi:nqe220108]<Rec, Rec, 0>(Rec&&)",
	},
	{
		"_ZNSt3__115__half_positiveB9nqe220108IlTnNS_9enable_ifIXsr11is_integralIT_EE5valueEiE4typeELi0EEES2_S2_",
		"long std::__1::__half_positive[abi:nqe220108]<long, 0>(long)",
	},
	{
		"_ZNSt3__117basic_string_viewIcNS_11char_traitsIcEEEC2B9nqe220108ITkNS_19contiguous_iteratorEPcTkNS_18sized_sentinel_forITL0__EES5_Qaa9is_same_vINS_11conditionalIXsr21__is_primary_templateINS_15iterator_traitsIu14__remove_cvrefIS7_EEEEE5valueENS_26indirectly_readable_traitsISA_EESB_E4type10value_typeET_Ent16is_convertible_vITL0_0_mEEESH_T0_",
		"std::__1::basic_string_view<char, std::__1::char_traits<char> >::basic_string_view[abi:nqe220108]<char*, char*>(char*, char*)",
	},
	{
		"_ZNSt3__14prevB9nqe220108IPKcTnNS_9enable_ifIXsr29__has_input_iterator_categoryIT_EE5valueEiE4typeELi0EEES4_S4_",
		"char const* std::__1::prev[abi:nqe220108]<char const*, 0>(char const*)",
	},
	{
		"_ZNSt3__16ranges8ref_viewINS_6vectorI3RecNS_9allocatorIS3_EEEEEC2B9nqe220108IRS6_Qaaaa16__different_fromITL0__NS1_IT_EEE14convertible_toISA_RSB_ErqXcl5__funclsr3stdE7declvalISA_EEEEEEOSB_",
		"std::__1::ranges::ref_view<std::__1::vector<Rec, std::__1::allocator<Rec> > >::ref_view[abi:nqe220108]<std::__1::vector<Rec, std::__1::allocator<Rec> >&>(std::__1::vector<Rec, std::__1::allocator<Rec> >&)",
	},
	{
		"_ZNSt3__17advanceB9nqe220108IPKcllTnNS_9enable_ifIXsr11is_integralIT1_EE5valueEiE4typeELi0EEEvRT_T0_",
		"void std::__1::advance[abi:nqe220108]<char const*, long, long, 0>(char const*&, long)",
	},
	{
		"_ZNSt3__18to_charsB9nqe220108IDiTnNS_9enable_ifIXsr11is_integralIT_EE5valueEiE4typeELi0EEENS_15to_chars_resultEPcS6_S2_i",
		"std::__1::to_chars_result std::__1::to_chars[abi:nqe220108]<char32_t, 0>(char*, char*, char32_t, int)",
	},
	{
		"_ZNSt3__19allocatorINS_20__shared_ptr_emplaceI3RecNS0_IS2_EEEEEC2B9nqe220108IS2_EERKNS0_IT_EE",
		"std::__1::allocator<std::__1::__shared_ptr_emplace<Rec, std::__1::allocator<Rec> > >::allocator[abi:nqe220108]<Rec>(std::__1::allocator<Rec> const&)",
	},
	{
		"_ZNSt3__1eqB9nqe220108IJNS_11__wrap_iterIP3RecEES4_EJS4_S4_EQaasr5__allIXsprQRKT_RKT0__XeqfL0p_fL0p0_RNS_18__boolean_testableEEEEE5valueeqsZT_sZT0_EEbRKNS_5tupleIJDpS5_EEERKNSB_IJDpS8_EEE",
		"bool std::__1::operator==[abi:nqe220108]<std::__1::__wrap_iter<Rec*>, std::__1::__wrap_iter<Rec*>, std::__1::__wrap_iter<Rec*>, std::__1::__wrap_iter<Rec*> >(std::__1::tuple<std::__1::__wrap_iter<Rec*>, std::__1::__wrap_iter<Rec*> > const&, std::__1::tuple<std::__1::__wrap_iter<Rec*>, std::__1::__wrap_iter<Rec*> > const&)",
	},
	{
		"_ZNSt4spanIcLm18446744073709551615EEC2ITkSt19contiguous_iteratorPcQsr19__is_compatible_refIDTdeclsr3stdE7declvalIRTL0__EEEEE5valueEET_m",
		"std::span<char, 18446744073709551615ul>::span<char*>(char*, unsigned long)",
	},
	{
		"_ZSt4swapISt6localeQaaaantsr15__is_tuple_likeIT_EE5value23is_move_constructible_vIS1_E20is_move_assignable_vIS1_EEvRS1_S2_",
		"void std::swap<std::locale>(std::locale&, std::locale&)",
	},
	{
		"_ZNSt3__112__tuple_leafILm0EiLb0EEC2B9nqe220108IRKiTnNS_9enable_ifIXsr4_AndINS_17integral_constantIbXntu9__is_sameu14__remove_cvrefIT_ES1_EEEENS_16is_constructibleIiJS7_EEEEE5valueEiE4typeELi0EEEOS7_",
		"std::__1::__tuple_leaf<0ul, int, false>::__tuple_leaf[abi:nqe220108]<int const&, 0>(int const&)",
	},
	{
		"_ZNSt3__110__distanceB9nqe220108IPKcTnNS_9enable_ifIXsr37__has_random_access_iterator_categoryIT_EE5valueEiE4typeELi0EEENS_11conditionalIXsr21__is_primary_templateINS_15iterator_traitsIu14__remove_cvrefIS4_EEEEE5valueENS_20incrementable_traitsIS9_EESA_E4type15difference_typeES4_S4_",
		"std::__1::conditional<__is_primary_template<std::__1::iterator_traits<__remove_cvref(char const*)> >::value, std::__1::incrementable_traits<__remove_cvref(char const*)>, std::__1::iterator_traits<__remove_cvref(char const*)> >::type::difference_type std::__1::__distance[abi:nqe220108]<char const*, 0>(char const*, char const*)",
	},
	{
		"_ZNKSt3__16ranges10__distanceclB9nqe220108IRPKjTkNS_18sized_sentinel_forIu7__decayIT_EEES4_EENS_11conditionalIXsr21__is_primary_templateINS_15iterator_traitsIu14__remove_cvrefIS7_EEEEE5valueENS_20incrementable_traitsISB_EESC_E4type15difference_typeEOS7_T0_",
		"std::__1::conditional<__is_primary_template<std::__1::iterator_traits<__remove_cvref(unsigned int const*&)> >::value, std::__1::incrementable_traits<__remove_cvref(unsigned int const*&)>, std::__1::iterator_traits<__remove_cvref(unsigned int const*&)> >::type::difference_type std::__1::ranges::__distance::operator()[abi:nqe220108]<unsigned int const*&, unsigned int const*>(unsigned int const*&, unsigned int const*) const",
	},
}

// TestCxxConstrained: the text is the same after any other name, and ends where the name is cut.
func TestCxxConstrained(t *testing.T) {
	var d Demangler
	for _, test := range cxxConstrained {
		for range 2 {
			if text, ok := d.ForLanguage(0, []byte(test.in)); text != test.want || !ok {
				t.Errorf("%s:\n got  %q, %v\n want %q", test.in, text, ok, test.want)
			}
		}

		// What was read of this name must not get into the next one's text.
		for _, other := range cxxConstrained {
			d.ForLanguage(0, []byte(other.in))
			if text, _ := d.ForLanguage(0, []byte(test.in)); text != test.want {
				t.Errorf("%s after %s:\n got  %q\n want %q", test.in, other.in, text, test.want)
			}
		}

		// Cut names may have a text, but do not bring the reader down.
		for n := range test.in {
			d.ForLanguage(0, []byte(test.in[:n]))
		}
		if text, _ := d.ForLanguage(0, []byte(test.in)); text != test.want {
			t.Errorf("%s after a part of it: %q", test.in, text)
		}
	}
}

// TestCxxConstrainedLeft: damaged declarations and constraints stay mangled.
func TestCxxConstrainedLeft(t *testing.T) {
	for _, name := range []string{
		"_Z1fITnsr3hasIT_EELi0EEvT_",             // no type
		"_Z1fIiQsr3hasIT_EEEvT_",                 // no member
		"_Z1fIiQzzsr3hasIT_EE5valueEvT_",         // no operator
		"_Z1fIiQrqYsr3hasIT_EE5valueEEvT_",       // no requirement
		"_Z1fIiQsr3hasIT_EE5valueEvTL0__",        // a parameter of an inner template in a type that is written
		"_Z1fITtTsEiQsr3hasIT_EE5valueEvT_",      // no declaration
		"_Z1fIiQfxplT_T_sr3hasIT_EE5valueEvT_",   // no fold
		"_Z1fIiQsr3hasIT_EE5valueES9_",           // no such substitution
		"_Z1fIiQaasr3hasIT_EE5valuesr3hasIT_EEv", // one operand
	} {
		if text, ok := Demangle([]byte(name)); ok {
			t.Errorf("%s: %q", name, text)
		}
	}
}
