// Package naming decides which texts of a symbol file are right for a function and for a source
// file that the ELF file names.
package naming

import (
	"cmp"
	"encoding/hex"
	"strings"

	"symkit/emit"

	"github.com/ianlancetaylor/demangle"

	names "symkit/internal/demangle"
)

// MaxNameLog is the exponent of demangle.MaxLength: 64 KiB, as names are cut
// there.
const MaxNameLog = 16

// readable demangles C++ and Rust names: with the library, since internal/demangle is what the
// dumper uses. Only the names that the library is known to read wrongly are read by
// internal/demangle, whose texts for all such names of the corpus two other demanglers
// confirm (TestCorpusJudge there).
func readable(linkage string) string {
	if names.IsMisread([]byte(linkage)) {
		text, _ := names.Demangle([]byte(linkage))
		return text
	}
	out, err := demangle.ToString(linkage, demangle.MaxLength(MaxNameLog))
	if err != nil {
		return linkage
	}
	return out
}

// isLibrarys reports whether the library's text alone holds for a linkage name: that is so for
// C++'s. D's, OCaml's, Fortran's and others only internal/demangle reads. Of Rust's, both texts
// are accepted, for the library errs: of the old mangling, with a hash at the end, it loses the
// underscore in front of an identifier (__rust_begin_short_backtrace), of the new one it takes
// the numbers of closures in closures in the wrong order.
func isLibrarys(linkage string) bool {
	return strings.HasPrefix(linkage, "_Z") && !strings.Contains(linkage, "17h")
}

// acceptable yields the normalised texts of a name, the likeliest first.
func acceptable(k Key, yield func(string) bool) {
	_ = linkageTexts(k, yield) && plainTexts(k, yield) && adaTexts(k, yield)
}

// adaTexts yields the decoded texts of names in Ada.
func adaTexts(k Key, yield func(string) bool) bool {
	if !k.Ada {
		return true
	}
	for _, encoded := range []string{k.Linkage, k.Name} {
		if text, ok := adaName(encoded); ok && !yield(Normalise(text)) {
			return false
		}
	}
	return true
}

// linkageTexts yields those of a linkage name; it is false when yield was.
func linkageTexts(k Key, yield func(string) bool) bool {
	if k.Linkage == "" {
		return true
	}
	if !yield(Normalise(readable(k.Linkage))) || !yield(Normalise(k.Linkage)) {
		return false
	}
	if !isLibrarys(k.Linkage) {
		if s, ok := names.Demangle([]byte(k.Linkage)); ok && !yield(Normalise(s)) {
			return false
		}
	}
	if names.IsMisread([]byte(k.Linkage)) {
		return true // the library has nothing right to say
	}
	for _, opts := range [][]demangle.Option{
		{demangle.NoParams}, {demangle.NoParams, demangle.NoTemplateParams}, {demangle.NoClones}, {demangle.NoRust},
	} {
		s, err := demangle.ToString(k.Linkage, append(opts, demangle.MaxLength(MaxNameLog))...)
		if err == nil && (!yield(Normalise(s)) || !yield(Normalise(withoutReturnType(s)))) {
			return false
		}
	}
	return true
}

// plainTexts yields the plain name with the scopes around it, and alone.
func plainTexts(k Key, yield func(string) bool) bool {
	if k.Name == "" {
		return k.Linkage != "" || yield(Normalise(nameOmitted))
	}
	var path strings.Builder
	for _, s := range k.scopes() {
		path.WriteString(cmp.Or(s, anonymousScope))
		path.WriteString("::")
	}
	return yield(Normalise(path.String()+k.Name)) && yield(Normalise(k.Name))
}

// withoutReturnType removes the type in front of the name in the text of a
// template function: what comes before the last space outside of brackets in
// front of the parameters.
func withoutReturnType(s string) string {
	depth, cut := 0, -1
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '<', '(', '[', '{':
			if s[i] == '(' && depth == 0 && !strings.HasPrefix(s[i:], "(anonymous") && i > 0 && s[i-1] != ' ' {
				return s[cut+1:]
			}
			depth++
		case '>', ')', ']', '}':
			if i > 0 && s[i] == '>' && s[i-1] == '-' {
				continue
			}
			depth--
		case ' ':
			if depth == 0 && !strings.HasSuffix(s[:i], "operator") {
				cut = i
			}
		}
	}
	return s[cut+1:]
}

// anonymousScope stands for the names that tools give to scopes without one.
const anonymousScope = "(anonymous)"

var anonymousScopes = strings.NewReplacer("(anonymousnamespace)", anonymousScope, "(anonymousclass)", anonymousScope,
	"{{anonymous}}", anonymousScope, "{anonymous}", anonymousScope)

// Normalise removes what tools write differently: spaces, and how they call
// scopes without a name; control characters become as they are in symbol files.
func Normalise(s string) string {
	s = Escaped(s)
	if strings.IndexByte(s, ' ') >= 0 {
		s = strings.ReplaceAll(s, " ", "")
	}
	if strings.Contains(s, "anonymous") {
		s = anonymousScopes.Replace(s)
	}
	return s
}

// OriginName is the name in an INLINE_ORIGIN record. The first byte of one that begins
// with a number is escaped there: see emit.OriginName.
func OriginName(text string) string {
	const escape = len(`\xNN`)
	if len(text) < escape || text[:2] != `\x` {
		return text
	}
	b, err := hex.DecodeString(text[2:escape])
	if err != nil {
		return text
	}
	if name := string(b) + text[escape:]; emit.OriginName(name) == text && emit.Name(name) != text {
		return name
	}
	return text
}

// Escaped is a name of the ELF file as symbol files have it: control characters and what
// is not UTF-8 as \xNN, cut at emit.MaxName. A name of a symbol file stays as it is.
func Escaped(name string) string {
	if name == "" {
		return ""
	}
	return emit.Name(name)
}
