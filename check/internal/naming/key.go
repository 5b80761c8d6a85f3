package naming

import (
	"strings"
)

// Key is what DWARF or a symbol table says of a function's name.
type Key struct {
	Linkage string // the linkage name, empty without one
	Name    string // the plain name
	Scope   string // the scopes around it, each followed by NUL
	Far     bool   // its scopes are not known: it is declared in another unit
	Ada     bool   // a unit in Ada has it, so that it may be encoded: see adaName
	Unread  bool   // part of it is in a supplementary file that is not there
}

// LinkageMark divides the plain name of a scope from its linkage name.
const LinkageMark = "\x01"

// scopes are the plain names of the scopes, outermost first.
func (k Key) scopes() []string {
	names, _ := k.scopesAndLinkage()
	return names
}

// scopesAndLinkage also gives the linkage names of those that have one.
func (k Key) scopesAndLinkage() (names, linkage []string) {
	if k.Scope == "" {
		return nil, nil
	}
	names = strings.Split(strings.TrimSuffix(k.Scope, "\x00"), "\x00")
	for i, s := range names {
		plain, link, ok := strings.Cut(s, LinkageMark)
		names[i] = plain
		if ok {
			linkage = append(linkage, link)
		}
	}
	return names, linkage
}
