package naming

import (
	"strings"

	"symkit/check/internal/naming/swift"
)

// Key is what DWARF or a symbol table contains about a function's name.
type Key struct {
	Linkage string // the linkage name, empty without one
	Name    string // the plain name
	Scope   string // the scopes around it, each followed by NUL
	Traits
}

// Traits are further facts about a name.
type Traits struct {
	Far    bool // the scopes are not known: the function is declared in another unit
	Typed  bool // some scopes are not known: their names are in type units
	Ada    bool // the unit's language is Ada, so that the name may be encoded: see adaName
	Unread bool // part of the name is in a supplementary file that was not found
}

// LinkageMark divides the plain name of a scope from its linkage name.
const LinkageMark = "\x01"

// scopes returns the plain names of the scopes, outermost first.
func (k Key) scopes() []string {
	names, _ := k.scopesAndLinkage()
	return names
}

// scopesAndLinkage returns the plain names of the scopes, and the linkage names of those scopes
// that have one.
func (k Key) scopesAndLinkage() (names, linkage []string) {
	if k.Scope == "" {
		return nil, nil
	}
	names = strings.Split(strings.TrimSuffix(k.Scope, "\x00"), "\x00")
	for i, s := range names {
		plain, link, ok := strings.Cut(s, LinkageMark)
		if swift.IsName(plain) { // a type, which is named by its mangled name
			plain = readable(plain)
		}
		names[i] = plain
		if ok {
			linkage = append(linkage, link)
		}
	}
	return names, linkage
}
