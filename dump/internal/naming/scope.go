package naming

import (
	"debug/dwarf"
	"strings"

	"symkit/internal/demangle"
	"symkit/internal/dwarfx"
)

// scoper makes the scope that goes in front of a plain name, from the names of the
// DIEs that enclose its declaration: namespaces, classes, functions. A scope may
// itself be declared elsewhere; its own scope is then that of its declaration.
type scoper struct {
	language  dwarfx.Language
	demangler *demangle.Demangler
	dies      *dwarfx.Namer
	unit      *dwarfx.Unit // the unit of tops, see dwarfx.Data.Parents
	tops      []dwarfx.Ref
	depth     int // of scopes that are declared elsewhere
	steps     int // DIEs read in scopes that are declared elsewhere
	// last caches the scopes of the last declaration, outermost first: the next
	// declaration is often in the same class. A scope whose name depends on the
	// declaration is not cached.
	last []cachedScope
	buf  []byte // has the texts of last
	read *int   // bytes of names that were read
}

// cachedScope is a DIE and the scope of the declarations that the DIE encloses.
type cachedScope struct {
	unit     *dwarfx.Unit
	ref      dwarfx.Ref
	language dwarfx.Language
	from, to int // the text in scoper.buf, which mostly begins with that of the scope around
}

// maxScopeDepth bounds scopes that are declared elsewhere, within each other: a
// class in a function in a class declared elsewhere is rare, and no program has a
// chain of sixteen.
const maxScopeDepth = 16

// maxScopeSteps, and one for each byte of the unit, bounds the scopes read of
// declarations elsewhere: scopes that are declared in each other have no end.
const maxScopeSteps = 1 << 14

// scope returns the names of parents, the DIEs of u that enclose a declaration
// called name, outermost first, each followed by the separator. It is cut where it is longer than
// any name that is written.
func (x *scoper) scope(u *dwarfx.Unit, parents []dwarfx.Ref, name string) string {
	// The scope of the last declaration is continued, but for a scope that is declared elsewhere.
	var elsewhere []byte
	buf, from, known := &elsewhere, 0, 0
	if x.depth == 0 {
		for known < min(len(x.last), len(parents)) && x.last[known].is(u, parents[known], x.language) {
			known++
		}
		x.last = x.last[:known]
		buf = &x.buf
		*buf, from = x.end()
	}

	sep := x.language.Separator()
	for i := known; i < len(parents); i++ {
		if x.depth > 0 {
			x.steps++
			if uint64(x.steps) > maxScopeSteps+x.unit.End-x.unit.Off {
				break
			}
		}
		part, whole, unnamed := x.name(u, parents[i:], name)
		*x.read += stepRead + len(part)
		if whole {
			from = len(*buf)
		}
		if part != "" && len(*buf)-from < maxScope {
			*buf = append(append(*buf, part...), sep...)
		}
		if x.depth == 0 && !unnamed && len(x.last) == i {
			x.last = append(x.last, cachedScope{u, parents[i], x.language, from, len(*buf)})
		}
	}
	return string((*buf)[from:])
}

// end returns buf up to the end of the last cached scope, and where that scope begins.
func (x *scoper) end() (buf []byte, from int) {
	if len(x.last) == 0 {
		return x.buf[:0], 0
	}
	last := &x.last[len(x.last)-1]
	return x.buf[:last.to], last.from
}

// maxScope is a length in bytes at which a scope is cut: a name has 64 KiB at most. stepRead is what
// reading a scope counts for, besides the bytes of its name, in the bytes of names that may be read.
const maxScope, stepRead = 64<<10 + 64, 16

// cut returns a name, cut at maxScope bytes.
func cut(name []byte) string { return string(name[:min(len(name), maxScope)]) }

// is reports whether c holds for a DIE of u and a language.
func (c *cachedScope) is(u *dwarfx.Unit, ref dwarfx.Ref, language dwarfx.Language) bool {
	return c.ref == ref && c.unit == u && c.language == language
}

// name returns the text that parents[0] adds to the scope of the declarations it encloses:
// the other parents, and one called name. whole reports that part is the complete scope: a
// function's demangled linkage name, the name of a method in Objective-C, that of a type in Swift, or the
// name and scope of a declaration elsewhere.
// unnamed reports that the DIE has no name of its own.
func (x *scoper) name(u *dwarfx.Unit, parents []dwarfx.Ref, name string) (part string, whole, unnamed bool) {
	ref := parents[0]
	tag := x.dies.TagAt(u.Data(), ref)
	if !isScope(tag) {
		return "", false, false
	}
	n, err := x.dies.NameOf(u.Data(), ref)
	if err != nil || n.Unit == nil {
		return "", false, false
	}

	if tag == dwarf.TagSubprogram && len(n.Linkage) > 0 {
		text, ok := x.demangler.ForLanguage(uint16(x.language), n.Linkage)
		if ok {
			return text[:min(len(text), maxScope)], true, false
		}
	}

	if isMethod(n.Name) {
		return cut(n.Name), true, false
	}
	if demangle.IsSwift(n.Name) { // a type, which is named by its mangled name
		text, ok := x.demangler.ForLanguage(uint16(x.language), n.Name)
		if ok {
			return text[:min(len(text), maxScope)], true, false
		}
	}
	part = cut(n.Name)
	unnamed = part == "" && !n.Lost
	if unnamed {
		part = anonymous(tag, x.inner(u, parents[1:], name))
	}
	if n.Decl == ref || x.depth >= maxScopeDepth {
		return part, false, unnamed
	}

	// The declaration is elsewhere; its scope is the scope there.
	x.depth++
	defer func() { x.depth-- }()
	outer := ""
	tops := x.tops
	if n.Unit != x.unit {
		tops = nil
	}
	parents, ok := n.Unit.Data().ParentsOf(n.Unit, n.Decl, tops)
	if ok {
		outer = x.scope(n.Unit, parents, part)
	}
	return outer + part, true, unnamed
}

// inner returns the name of the first of parents, or name if there is none that
// can be read.
func (x *scoper) inner(u *dwarfx.Unit, parents []dwarfx.Ref, name string) string {
	if len(parents) == 0 {
		return name
	}
	n, err := x.dies.NameOf(u.Data(), parents[0])
	if err != nil {
		return name
	}
	return cut(n.Name)
}

// isScope reports whether the name of a DIE belongs to the names that the DIE encloses.
func isScope(tag dwarf.Tag) bool {
	switch tag {
	case dwarf.TagNamespace, dwarf.TagModule, dwarf.TagSubprogram, dwarf.TagClassType, dwarf.TagStructType,
		dwarf.TagUnionType, dwarf.TagInterfaceType, dwarf.TagEnumerationType:
		return true
	}
	return false
}

// anonymous is the name that people give a scope without a name.
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
