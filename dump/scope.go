package dump

import (
	"debug/dwarf"
	"strings"

	"symkit/dump/dwarfx"
	"symkit/internal/demangle"
)

// scoper puts names together from the DIEs around a declaration.
type scoper struct {
	language  dwarfx.Language
	demangler *demangle.Demangler
	namer     dwarfx.Namer
	unit      *dwarfx.Unit // that tops are of, see dwarfx.Data.Parents
	tops      []dwarfx.Ref
	depth     int // of scopes that are themselves declared elsewhere
	steps     int // over such scopes
	// last are, at depth 0, the DIEs around the last one, as far as their names do
	// not depend on what is in them.
	last []lastScope
}

// lastScope is a DIE with the text for what is in it.
type lastScope struct {
	ref      dwarfx.Ref
	language dwarfx.Language
	text     string
}

// maxScopeDepth bounds scopes within scopes: a class in a function in a class
// declared elsewhere is rare, a chain of sixteen is no program.
const maxScopeDepth = 16

// maxScopeSteps, and one for each byte of the unit, is more than programs need: scopes that are
// declared in each other would never end.
const maxScopeSteps = 1 << 14

// scope returns the names of parents, the DIEs of u around one called name, the
// outermost first, each followed by the separator.
func (x *scoper) scope(u *dwarfx.Unit, parents []dwarfx.Ref, name string) (text string) {
	sep := x.language.Separator()
	known := 0
	if x.depth == 0 {
		for known < min(len(x.last), len(parents)) && x.last[known].ref == parents[known] && x.last[known].language == x.language {
			text = x.last[known].text
			known++
		}
		x.last = x.last[:known]
	}
	for i := known; i < len(parents); i++ {
		if x.depth > 0 {
			if x.steps++; uint64(x.steps) > maxScopeSteps+x.unit.End-x.unit.Off {
				return text
			}
		}
		part, whole, unnamed := x.name(u, parents[i:], name)
		switch {
		case part == "":
		case whole:
			text = part + sep
		default:
			text += part + sep
		}
		if x.depth == 0 && !unnamed && len(x.last) == i {
			x.last = append(x.last, lastScope{parents[i], x.language, text})
		}
	}
	return text
}

// name returns what the first of some DIEs adds to the names in it: those of the others,
// or the one given. whole tells that it is the complete name of the scope: a function's
// linkage name, or what a declaration elsewhere says; unnamed, that it has no name of its
// own.
func (x *scoper) name(u *dwarfx.Unit, parents []dwarfx.Ref, name string) (part string, whole, unnamed bool) {
	ref := parents[0]
	tag := x.namer.TagAt(u.Data(), ref)
	if !isScope(tag) {
		return "", false, false
	}
	n, err := x.namer.NameOf(u.Data(), ref)
	if err != nil || n.Unit == nil {
		return "", false, false
	}
	if tag == dwarf.TagSubprogram && len(n.Linkage) > 0 {
		if text, ok := x.demangler.ForLanguage(uint16(x.language), n.Linkage); ok {
			return text, true, false
		}
	}
	part = string(n.Name)
	if unnamed = part == "" && !n.Lost; unnamed {
		part = anonymous(tag, x.inner(u, parents[1:], name))
	}
	if n.Decl == ref || x.depth >= maxScopeDepth {
		return part, false, unnamed
	}
	x.depth++
	defer func() { x.depth-- }()
	outer := ""
	tops := x.tops
	if n.Unit != x.unit {
		tops = nil
	}
	if parents, ok := n.Unit.Data().ParentsOf(n.Unit, n.Decl, tops); ok {
		outer = x.scope(n.Unit, parents, part)
	}
	return outer + part, true, unnamed
}

// inner is the name of the first of some DIEs, if there is one that can be read, or the one
// given.
func (x *scoper) inner(u *dwarfx.Unit, parents []dwarfx.Ref, name string) string {
	if len(parents) > 0 {
		if n, err := x.namer.NameOf(u.Data(), parents[0]); err == nil {
			return string(n.Name)
		}
	}
	return name
}

// isScope tells the DIEs whose names belong to the names in them.
func isScope(tag dwarf.Tag) bool {
	switch tag {
	case dwarf.TagNamespace, dwarf.TagModule, dwarf.TagSubprogram, dwarf.TagClassType, dwarf.TagStructType,
		dwarf.TagUnionType, dwarf.TagInterfaceType, dwarf.TagEnumerationType:
		return true
	}
	return false
}

// anonymous is how people call a scope without a name.
func anonymous(tag dwarf.Tag, inner string) string {
	switch {
	case tag == dwarf.TagNamespace:
		return "(anonymous namespace)"
	case strings.HasPrefix(inner, "operator()"):
		return "{lambda}"
	case tag == dwarf.TagUnionType:
		return "(anonymous union)"
	case tag == dwarf.TagEnumerationType:
		return "(anonymous enum)"
	case tag == dwarf.TagClassType:
		return "(anonymous class)"
	case tag == dwarf.TagStructType:
		return "(anonymous struct)"
	}
	return ""
}
