package dump

import (
	"debug/dwarf"
	"strings"

	"symkit/dump/dwarfx"
	"symkit/dump/names"
)

// scoper puts names together from the DIEs around a declaration.
type scoper struct {
	language  dwarfx.Language
	demangler *names.Demangler
	namer     dwarfx.Namer
	unit      *dwarfx.Unit // that tops are of, see dwarfx.Data.Parents
	tops      []dwarfx.Ref
	depth     int // of scopes that are themselves declared elsewhere
}

// maxScopeDepth bounds scopes within scopes: a class in a function in a class
// declared elsewhere is rare, a chain of sixteen is no program.
const maxScopeDepth = 16

// scope returns the names of parents, the DIEs of u around one called name, the
// outermost first, each followed by the separator.
func (x *scoper) scope(u *dwarfx.Unit, parents []dwarfx.Ref, name string) (text string) {
	sep := x.language.Separator()
	for i, p := range parents {
		inner := name
		if i+1 < len(parents) {
			if n, err := x.namer.NameOf(u.Data(), parents[i+1]); err == nil {
				inner = string(n.Name)
			}
		}
		part, whole := x.name(u, p, inner)
		switch {
		case part == "":
		case whole:
			text = part + sep
		default:
			text += part + sep
		}
	}
	return text
}

// name returns what a DIE adds to the names in it, of which inner is one. whole
// tells that it is the complete name of the scope: a function's linkage name, or
// what a declaration elsewhere says.
func (x *scoper) name(u *dwarfx.Unit, ref dwarfx.Ref, inner string) (part string, whole bool) {
	tag := x.namer.TagAt(u.Data(), ref)
	if !isScope(tag) {
		return "", false
	}
	n, err := x.namer.NameOf(u.Data(), ref)
	if err != nil || n.Unit == nil {
		return "", false
	}
	if tag == dwarf.TagSubprogram && len(n.Linkage) > 0 {
		if text, ok := x.demangler.ForLanguage(uint16(x.language), n.Linkage); ok {
			return text, true
		}
	}
	part = string(n.Name)
	if part == "" && !n.Lost {
		part = anonymous(tag, inner)
	}
	if n.Decl == ref || x.depth >= maxScopeDepth {
		return part, false
	}
	x.depth++
	defer func() { x.depth-- }()
	outer := ""
	tops := x.tops
	if n.Unit != x.unit {
		tops = nil
	}
	_ = n.Unit.Data().Parents(n.Unit, []dwarfx.Ref{n.Decl}, tops, func(_ int, parents []dwarfx.Ref) {
		outer = x.scope(n.Unit, parents, part)
	})
	return outer + part, true
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
