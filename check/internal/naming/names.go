// Package naming decides which texts in a symbol file are right for a function or a source file
// that the ELF file names.
package naming

import (
	"cmp"
	"encoding/hex"
	"strings"

	"symkit/emit"

	"github.com/ianlancetaylor/demangle"
)

// MaxNameLog is the exponent of demangle.MaxLength: 64 KiB, where names are cut.
const MaxNameLog = 16

// readable returns the text of a linkage name, for messages and scopes.
func readable(linkage string) string {
	text, _ := demangled(linkage)
	return text
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

// linkageTexts yields the texts of a linkage name. It returns false if yield did. Of a name that no
// code here reads rightly it is the name itself.
func linkageTexts(k Key, yield func(string) bool) bool {
	if k.Linkage == "" {
		return true
	}
	text, trust := demangled(k.Linkage)
	if trust == misread {
		return yield(k.Linkage)
	}
	if !yield(text) || !yield(k.Linkage) {
		return false
	}

	// Tools shorten names in several manners.
	for _, opts := range [][]demangle.Option{
		{demangle.NoParams}, {demangle.NoParams, demangle.NoTemplateParams}, {demangle.NoClones}, {demangle.NoRust},
	} {
		ast, ok := parse(k.Linkage, opts...)
		if !ok {
			continue
		}
		s, ok := printed(ast, opts...)
		if ok && (!yield(s) || !yield(withoutReturnType(s))) {
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

// Normalise removes the differences between tools: spaces, the order of qualifiers, and the names of unnamed scopes. Control
// characters are escaped as in symbol files.
func Normalise(s string) string {
	s = Escaped(s)
	if n := strings.Count(s, " "); n > 0 {
		s = withoutSpaces(s, len(s)-n)
	}
	if strings.Contains(s, "volatileconst") {
		s = strings.ReplaceAll(s, "volatileconst", "constvolatile")
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
