// Package naming decides which texts in a symbol file are right for a function or a source file
// that the ELF file names.
package naming

import (
	"cmp"
	"encoding/hex"
	"strings"

	"symkit/emit"

	"github.com/ianlancetaylor/demangle"

	names "symkit/internal/demangle"
)

// MaxNameLog is the exponent of demangle.MaxLength: 64 KiB, where names are cut.
const MaxNameLog = 16

// readable demangles C++ and Rust names with the library, since the dumper uses internal/demangle.
// Only names that the library is known to misread, and those that it refuses, are read by
// internal/demangle: for all such names of the corpus two other demanglers confirm its texts
// (TestCorpusJudge there).
func readable(linkage string) string {
	if isSwiftName(linkage) {
		if text, ok := swiftText(linkage); ok {
			return text
		}
		return linkage
	}
	if names.IsMisread([]byte(linkage)) {
		text, _ := names.Demangle([]byte(linkage))
		return text
	}
	out, err := demangle.ToString(linkage, demangle.MaxLength(MaxNameLog))
	if err != nil {
		text, _ := names.Demangle([]byte(linkage))
		return text
	}
	return out
}

// libraryDecides reports whether only the library's text is accepted for a linkage name: it is for
// C++. Names of D, OCaml, Fortran and others only internal/demangle reads. Of Rust's names both
// texts are accepted, for the library errs: of the old mangling, with a hash at the end, it loses
// the underscore in front of an identifier (__rust_begin_short_backtrace); of the new mangling it
// takes the numbers of closures in closures in the wrong order.
func libraryDecides(linkage string) bool {
	return strings.HasPrefix(linkage, "_Z") && !strings.Contains(linkage, "17h")
}

// acceptable yields the normalised texts of a name, the most likely one first.
func acceptable(k Key, yield func(string) bool) {
	spellings(k, func(s string) bool { return yield(Normalise(s)) })
}

// spellings yields the texts of a name, the most likely one first.
func spellings(k Key, yield func(string) bool) {
	_ = linkageTexts(k, yield) && plainTexts(k, yield) && adaTexts(k, yield)
}

// adaTexts yields the decoded texts of names in Ada.
func adaTexts(k Key, yield func(string) bool) bool {
	if !k.Ada {
		return true
	}
	for _, encoded := range []string{k.Linkage, k.Name} {
		if text, ok := adaName(encoded); ok && !yield(text) {
			return false
		}
	}
	return true
}

// linkageTexts yields the texts of a linkage name. It returns false if yield did.
func linkageTexts(k Key, yield func(string) bool) bool {
	if k.Linkage == "" {
		return true
	}
	if !yield(readable(k.Linkage)) || !yield(k.Linkage) {
		return false
	}

	if isSwiftName(k.Linkage) {
		return true
	}
	if !libraryDecides(k.Linkage) {
		if s, ok := names.Demangle([]byte(k.Linkage)); ok && !yield(s) {
			return false
		}
	}
	if names.IsMisread([]byte(k.Linkage)) {
		return true // the library's texts are wrong
	}

	// Tools shorten names in several manners.
	for _, opts := range [][]demangle.Option{
		{demangle.NoParams}, {demangle.NoParams, demangle.NoTemplateParams}, {demangle.NoClones}, {demangle.NoRust},
	} {
		s, err := demangle.ToString(k.Linkage, append(opts, demangle.MaxLength(MaxNameLog))...)
		if err == nil && (!yield(s) || !yield(withoutReturnType(s))) {
			return false
		}
	}
	return true
}

// plainTexts yields the plain name, with the scopes around it and alone.
func plainTexts(k Key, yield func(string) bool) bool {
	if k.Name == "" {
		return k.Linkage != "" || yield(nameOmitted)
	}

	var path strings.Builder
	for _, s := range k.scopes() {
		path.WriteString(cmp.Or(s, anonymousScope))
		path.WriteString("::")
	}
	return yield(path.String()+k.Name) && yield(k.Name)
}

// withoutReturnType removes the return type in front of the name in the text of a template
// function: the text before the last space that is outside of brackets and in front of the
// parameters.
func withoutReturnType(s string) string {
	depth, cut := 0, -1

	// cut is the last space outside of brackets; the first bracket after a name begins the
	// parameters.
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

// anonymousScope stands for the names that tools give to unnamed scopes.
const anonymousScope = "(anonymous)"

var anonymousScopes = strings.NewReplacer("(anonymousnamespace)", anonymousScope, "(anonymousclass)", anonymousScope,
	"{{anonymous}}", anonymousScope, "{anonymous}", anonymousScope)

// Normalise removes the differences between tools: spaces, and the names of unnamed scopes. Control
// characters are escaped as in symbol files.
func Normalise(s string) string {
	s = Escaped(s)
	if n := strings.Count(s, " "); n > 0 {
		s = withoutSpaces(s, len(s)-n)
	}
	if strings.Contains(s, "ymous") { // of "anonymous": a search for y stops at fewer bytes than one for a
		s = anonymousScopes.Replace(s)
	}
	return s
}

// withoutSpaces removes all spaces from s, which has n other bytes. It looks at each byte: the words
// of names are too short for searches.
func withoutSpaces(s string, n int) string {
	var b strings.Builder
	b.Grow(n)
	for i := range len(s) {
		if s[i] != ' ' {
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// OriginName returns the name in an INLINE_ORIGIN record. The first byte of a name that begins with
// a number is escaped in the record: see emit.OriginName.
func OriginName(text string) string {
	const escape = len(`\xNN`)
	if len(text) < escape || text[:2] != `\x` {
		return text
	}

	// A name that needs no escape may begin with the same bytes.
	b, err := hex.DecodeString(text[2:escape])
	if err != nil {
		return text
	}
	if name := string(b) + text[escape:]; emit.OriginName(name) == text && emit.Name(name) != text {
		return name
	}
	return text
}

// Escaped returns a name of the ELF file as symbol files have it: control characters and bytes that
// are not UTF-8 as \xNN, cut at emit.MaxName. A name of a symbol file stays as it is.
func Escaped(name string) string {
	if name == "" {
		return ""
	}
	return emit.Name(name)
}
