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
	} {
		_, got := demangled(linkage)
		if got != want {
			t.Errorf("%s: %d, want %d", linkage, got, want)
		}
	}
}

// TestDemangledShared: the time for a name of pairs of pairs is not that of the text, which doubles with
// each pair.
func TestDemangledShared(t *testing.T) {
	for _, f := range []string{"1f", "5space"} {
		name := "_Z" + f + "P1aP4pairIS0_S0_E"
		for i := range 500 {
			sub := "S" + strings.ToUpper(strconv.FormatInt(int64(i+2), 36)) + "_"
			name += fmt.Sprintf("S1_I%s%sE", sub, sub)
		}
		text, got := demangled(name)
		if got != trusted || !strings.HasPrefix(text, f[1:]+"(a*, pair<a*, a*>*, pair<pair<a*, a*>") {
			t.Errorf("%s: %.60s, trust %d", f, text, got)
		}
	}
}
