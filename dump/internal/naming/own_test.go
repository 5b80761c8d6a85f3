package naming

import (
	"strings"
	"testing"

	"symkit/internal/dwarfx"
	"symkit/limits"
)

// TestIsSymbolOf tells the symbols of functions with a plain name from those of others.
func TestIsSymbolOf(t *testing.T) {
	const cxx, rust, swift = dwarfx.Language(4), dwarfx.Language(0x1c), dwarfx.Language(0x1e)
	long := strings.Repeat("l", maxOwn+1)
	for _, tt := range []struct {
		language      dwarfx.Language
		plain, symbol string
		want          bool
	}{
		{cxx, "get", "_ZNK4shop3Box3getEi", true},
		{cxx, "get", "_ZNK4shop3Box3getEi.constprop.0.cold", true},
		{cxx, "get", "get", false}, // not mangled
		{cxx, "get", "_ZN4shop3Box4rgetEi", false},
		{cxx, "get", "_ZN4shop3Box4getsEi", false},
		{cxx, "get", "_ZN3get3putEv", false},
		{cxx, "get", "_Z3putN4shop3getE", false},
		{cxx, "get", "_Z3putN4shop3getIiEE", false},
		{cxx, "get", "_ZZ3getvEN1L3putEv", false},
		{cxx, "put", "_ZZ3getvEN1L3putEv", true},
		{cxx, "get", "_ZZ3getvENK3$_0clEv", false},
		{cxx, "operator()", "_ZZ3getvENK3$_0clEv", true},
		{cxx, "get", "_ZL3geti", true},
		{cxx, "get", "_ZN12_GLOBAL__N_13getEv", true},
		{cxx, "get", "_ZThn8_N1S3getEv", true},
		{cxx, "get", "_Z3getB5cxx11v", true},
		{cxx, "get<int>", "_Z3getIiET_v", true},
		{cxx, "get<int (*)(int) >", "_ZN1n3getIPFiiEEEvT_", true},
		{cxx, "get", "_Z3getIiENSt6vectorIT_EEv", true},
		{cxx, "Box", "_ZN3BoxIiEC2Ev", true},
		{cxx, "Box", "_ZN3BoxIiED2Ev", false},
		{cxx, "~Box", "_ZN3BoxIiED2Ev", true},
		{cxx, "operator[]", "_ZN1SixEi", true},
		{cxx, "operator<", "_ZN1SltERKS_", true},
		{cxx, "operator<", "_ZN1SleERKS_", false},
		{cxx, "operator<<<int>", "_ZN1SlsIiEEvT_", true},
		{cxx, "operator<< <int>", "_ZN1SlsIiEEvT_", true},
		{cxx, "operator<=>", "_ZN1SssERKS_", true},
		{cxx, "operator->", "_ZN1SptEv", true},
		{cxx, "operator->", "_ZN1SrsEv", false},
		{cxx, "operator>>", "_ZN1SrsEi", true},
		{cxx, "operator basic_string", "_ZN1ScvNSt7__cxx1112basic_stringIcEEEv", true},
		{cxx, "operator bool", "_ZN1S3getEv", false},
		{cxx, "operator new", "_ZN1SnwEm", true},
		{cxx, "operator new[]", "_ZN1SnwEm", false},
		{cxx, "operator new", "_ZN1SnaEm", false},
		{cxx, `operator""_km`, "_Zli3_kmy", true},
		{cxx, long, "_Z257" + long + "v", false},
		{rust, "price", "_ZN48_$LT$r..shop..Item$u20$as$u20$r..shop..Price$GT$5price17h0123456789abcdefE", true},
		{rust, "{closure#0}", "_ZN1r4main28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE", true},
		{rust, "{closure#0}<()>", "_RNCNvCs1234_1r4main0B3_", true},
		{rust, "{closure#1}", "_RNCNvCs1234_1r4main0B3_", false},
		{rust, "apply<fn(i32) -> i32>", "_RINvCs1234_1r5applyFlElEB2_", true},
		{rust, "main", "_RNCNvCs1234_1r4main0B3_", false},
		{swift, "cubed", "$sSi5swiftE5cubedSiyF", true},
		{swift, "squared", "$sSi5swiftE5cubedSiyF", false},
	} {
		x := NewNamer(NewTable(0, limits.Limits{}, false))
		if got := x.IsSymbolOf(&Key{Plain: []byte(tt.plain), Language: tt.language}, []byte(tt.symbol)); got != tt.want {
			t.Errorf("%s, %s: %v", tt.plain, tt.symbol, got)
		}
	}
}
