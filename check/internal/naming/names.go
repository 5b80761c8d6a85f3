// Package naming decides which texts in a symbol file are right for a function or a source file
// that the ELF file names.
package naming

import (
	"cmp"
	"strings"

	"github.com/ianlancetaylor/demangle"
)

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

// nameOmitted is what dumpers write for a function without a name.
const nameOmitted = "<name omitted>"
