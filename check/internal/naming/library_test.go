package naming

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// TestDemangledTrust: which texts of the library verify a name. Codes in identifiers are none.
func TestDemangledTrust(t *testing.T) {
	for linkage, want := range map[string]trust{
		"_Z15skip_whitespaceRPc":            trusted,
		"_ZN10MethodData14profile_jsr292Ei": trusted,
		"_ZN5boost6spiritI3aSZEE5coTxyDp":   misread, // the library refuses it
		"_Z1fIJilEEvDpPFvT_E":               misread, // an expansion of more than a pointer
		"_Z5spaceIJilEEvDpPFvT_E":           misread,
		"_Z1fI1AEDTsr3hasIT_EE5valueES2_":   misread,
		"_ZN5space1fI1AEEvv":                trusted,
		"_ZN1AC2B4ab1cILi0EEEPKcRKS_":       misread, // a constructor template with ABI tags, as libc++'s
		"_ZN1AC2B4ab1cEPKcRKS_":             trusted,
	} {
		_, got := demangled(linkage)
		if got != want {
			t.Errorf("%s: %d, want %d", linkage, got, want)
		}
	}
}

// TestJudgeOddNames: names that the library errs in, and names of D's thunks, functions of C and strings, are
// not verified, unless another function's words are in the text.
func TestJudgeOddNames(t *testing.T) {
	for _, test := range []struct {
		linkage, text string
		want          Verdict
	}{
		{"_Z1fIiEDTclL_Z1gIiET_S0_Efp_EES0_", "decltype ((g<int>)({parm#1})) f<int>(g)", Unverified}, // c++filt's text
		{"_Z1fIiEDTclL_Z1gIiET_S0_Efp_EES0_", "decltype ((g<int>)({parm#1})) h<int>(g)", Wrong},
		{"_Z1fIiEDTclL_Z1giEfp_EET_", "decltype (g({parm#1})) f<int>(int)", Right},
		{"_Z1fIiEvT_4frefIFbNDTcl4implIS0_EEE4typeEEN4qualIS4_E8functionEE", "void f<int>(int, fref<bool (decltype ((impl<int>)())::type), qual<bool (decltype ((impl<int>)())::type)>::function>)", Unverified},
		{"_ZN1AIDnXadL_Z1hIiEvPDnEEE1fEv", "A<decltype(nullptr), &(void h<int>(decltype(nullptr)*))>::f()", Right},
		{"_ZN1AIDnXadL_Z1hIiEvPDnEEE1fEv", "A<decltype(nullptr), &(void h<int>(int*))>::f()", Wrong},
		{"_GLOBAL__I_000102", "global constructors keyed to 000102", Right},
		{"_GLOBAL_$D_a.b", "global destructors keyed to a.b", Right},
		{"_GLOBAL__D__ZN1aC1Ev", "global destructors keyed to a::a()", Right},
		{"_GLOBAL__I_a", "global constructors keyed to b", Wrong},
		{"_DTi16_D4core2gc2GC3runMFZv", "thunk to core.gc.GC.run()", Unverified},
		{"_DThn16_4core2gc2GC3runMFZv", "thunk to core.gc.GC.run()", Unverified},
		{"_DThn16_4core2gc2GC3runMFZv", "thunk to core.gc.GC.stop()", Wrong},
		{"_D4core4loadFPUNbPvZvZi", "core.load(extern(C) void*(void*) nothrow)", Unverified},
		{`_D3std__T7getHostVAyaa3_612262ZQuFZv`, `std.getHost!("a"b").getHost()`, Unverified},
		{"_ZNSt1AIiZ6uniqueIaXadL_Z4hashIaEmPKT_hEEEvvEUlvE_ED1Ev", "std::A<int, unique<signed char, &(unsigned long hash<signed char>(signed char const*, unsigned char))>()::{lambda()#1}>::~A()", Unverified},
	} {
		names := NewTable()
		got := names.Judge(names.Number([]byte(test.linkage), nil, 0, Traits{}), test.text)
		if got != test.want {
			t.Errorf("%s: %s: %d, want %d", test.linkage, test.text, got, test.want)
		}
	}
}

// TestDemangledShared: the time for a name of pairs of pairs is not that of the text, which doubles with
// each pair.
func TestDemangledShared(t *testing.T) {
	for _, f := range []string{"1f", "5space"} {
		var name strings.Builder
		name.WriteString("_Z" + f + "P1aP4pairIS0_S0_E")
		for i := range 500 {
			sub := "S" + strings.ToUpper(strconv.FormatInt(int64(i+2), 36)) + "_"
			fmt.Fprintf(&name, "S1_I%s%sE", sub, sub)
		}
		text, got := demangled(name.String())
		if got != trusted || !strings.HasPrefix(text, f[1:]+"(a*, pair<a*, a*>*, pair<pair<a*, a*>") {
			t.Errorf("%s: %.60s, trust %d", f, text, got)
		}
	}
}
