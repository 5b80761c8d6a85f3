package demangle

import (
	"testing"
	"unicode/utf8"

	"symkit/internal/demangle/lex"
)

// FuzzDemangle: what comes out is bounded, valid UTF-8 if the name was, the name
// itself or its base where nothing was demangled, and the same each time.
func FuzzDemangle(f *testing.F) {
	for _, s := range []string{
		"_ZN3foo3barEi.cold", "_RINvNtC3std3mem8align_ofdE", "_ZN4core3fmt5write17h0123456789abcdefE",
		"_D3std3utf__T10byCodeUnitTAyuZQrFQhZ__T14ByCodeUnitImplZQr5emptyMxFNaNbNdNiNfZb",
		"_D8demangle22__T4testVAyaa3_616263Z1xi", "_D1a1bFDFNaiZvHiG3kZv", "__m_MOD_p", "_QMmPp",
		"camlO__$2b$21_85", "pkg__Oadd__2Xn", "$sSi3swoE5cubedSiyF", "f.part.0", "plain_",
	} {
		for _, lang := range []uint16{0, langAda95, langFortran08, langSwift} {
			f.Add(lang, []byte(s))
		}
	}
	f.Fuzz(func(t *testing.T, lang uint16, name []byte) {
		text, ok := ForLanguage(lang, name)
		if len(text) > max(MaxLength, len(name)) {
			t.Fatalf("%d bytes", len(text))
		}
		if utf8.Valid(name) && !utf8.ValidString(text) {
			t.Fatalf("%q: %q is not UTF-8", name, text)
		}
		if !ok && text != string(name) {
			t.Fatalf("%q: changed to %q, which it denies", name, text)
		}
		if base := lex.Base(name); len(base) > len(name) || len(name) > 0 && len(base) == 0 || string(lex.Base(base)) != string(base) {
			t.Fatalf("%q: base %q", name, base)
		}
		if again, ok2 := ForLanguage(lang, name); again != text || ok2 != ok {
			t.Fatalf("%q: once %q, once %q", name, text, again)
		}
	})
}
