package naming

import (
	"iter"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// acceptScoped reports whether sym is the plain name after acceptable scopes.
func (k Key) acceptScoped(sym string) bool {
	prefix, ok := strings.CutSuffix(sym, Normalise(k.Name))
	if !ok || k.Name == "" || !strings.HasSuffix(prefix, "::") && !strings.HasSuffix(prefix, ".") {
		return false
	}

	// Without known scopes any scopes are accepted.
	scopes, linkage := k.scopesAndLinkage()
	scopes = slices.DeleteFunc(scopes, func(s string) bool { return s == "" })
	if k.Far || len(scopes) == 0 {
		return true
	}
	if k.Linkage != "" && readable(k.Linkage) != k.Linkage {
		// The linkage name has all scopes: sym can only have fewer.
		return strings.HasSuffix(Normalise("::"+strings.Join(scopes, "::")+"::"), "::"+strings.ReplaceAll(prefix, ".", "::"))
	}

	if k.Typed {
		return true
	}
	// Text in brackets, and closures, have no names of their own.
	prefix = strings.TrimRight(scopeSkeleton(prefix), ":.")
	if !endsInScope(prefix, scopes[len(scopes)-1]) {
		linked := k.innermostLinkage()
		if linked == "" || !endsInScope(prefix, linked) {
			return false
		}
	}
	return len(linkage) == 0 || knownScopes(prefix, scopes, linkage)
}

// endsInScope reports whether a scope's name is all of prefix or its end.
func endsInScope(prefix, scope string) bool {
	scope = scopeSkeleton(Normalise(scope))
	return prefix == scope || strings.HasSuffix(prefix, "::"+scope) || strings.HasSuffix(prefix, "."+scope)
}

// innermostLinkage returns the demangled linkage name of the innermost scope that has a plain name,
// "" if that scope has no linkage name. D's constructors are __ctor as plain names and this as
// demangled names.
func (k Key) innermostLinkage() string {
	all := strings.Split(strings.TrimSuffix(k.Scope, "\x00"), "\x00")
	for _, s := range slices.Backward(all) {
		plain, linkage, _ := strings.Cut(s, LinkageMark)
		if plain == "" {
			continue
		}
		if text, ok := structors[plain]; ok {
			return text
		}
		return readable(linkage)
	}
	return ""
}

// knownScopes reports whether all scopes in prefix are among scopes, or in one of the linkage
// names.
func knownScopes(prefix string, scopes, linkage []string) bool {
	// Each scope counts as a whole and in its parts.
	known := map[string]bool{"": true}
	add := func(name string) {
		name = scopeSkeleton(Normalise(name))
		known[name] = true
		for part := range eachScope(name) {
			known[part] = true
		}
	}
	for _, s := range scopes {
		add(s)
		add(structors[s])
	}
	for _, s := range linkage {
		add(readable(s))
	}

	for part := range eachScope(prefix) {
		part, _, _ = strings.Cut(part, "!") // arguments of a template of D
		if !known[part] && !slices.ContainsFunc(linkage, func(s string) bool { return isUnread(s) && hasIdentifier(s, part) }) {
			return false
		}
	}
	return true
}

// isUnread reports whether no code here reads a linkage name.
func isUnread(linkage string) bool {
	text, trust := demangled(linkage)
	return trust == misread && text == linkage
}

// structors are D's constructors and destructors: their plain names, and how they are written.
var structors = map[string]string{"__ctor": "this", "__dtor": "~this", "__xdtor": "~this", "__postblit": "this(this)"}

// eachScope yields the scopes in a name, which are divided by "::" or, in D, ".".
func eachScope(name string) iter.Seq[string] {
	return strings.FieldsFuncSeq(name, func(r rune) bool { return r == ':' || r == '.' })
}

// scopeSkeleton returns the skeleton of a scope's name, without qualifiers of member functions and
// without ABI tags, which only linkage names have.
func scopeSkeleton(s string) string {
	return skeleton(qualifiers.Replace(abiTag().ReplaceAllString(s, "")))
}

// qualifiers removes the qualifiers of member functions, D's and C++'s, in which other names are declared.
var qualifiers = strings.NewReplacer(")sharedinoutconst", ")", ")sharedinout", ")", ")sharedconst", ")", ")shared", ")", ")inoutconst", ")", ")inout", ")", ")immutable", ")",
	")const&&", ")", ")const&", ")", ")const", ")", ")volatile", ")", ")&&", ")", ")&", ")")

// skeleton removes text in brackets, for names that refer to functions in their template arguments:
// demanglers differ in how they write those. A bracket in a string of D is none.
func skeleton(s string) string {
	var b strings.Builder
	depth := 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' && depth > 0 && stringEnd(s[i:]) > 0:
			i += stringEnd(s[i:])
		case c == '<' || c == '(' || c == '{':
			depth++
		case (c == '>' || c == ')' || c == '}') && depth > 0:
			depth--
		case depth == 0:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// stringEnd returns the index of the quote that ends the string at the start of s, or 0: the last one before an argument's
// or the list's end, since nothing escapes quotes.
func stringEnd(s string) int {
	for i := 1; i < len(s); i++ {
		if s[i] == '"' && (i+1 == len(s) || s[i+1] == ',' || s[i+1] == ')') {
			return i
		}
	}
	return 0
}

// hasIdentifier reports whether a linkage name has an identifier, behind its length. Of Unicode's
// characters the mangled form is another.
func hasIdentifier(linkage, name string) bool {
	length := strconv.Itoa(len(name))
	return strings.Contains(linkage, length+name) || strings.Contains(linkage, length+"_"+name) ||
		strings.IndexFunc(name, func(r rune) bool { return r > unicode.MaxASCII }) >= 0
}
