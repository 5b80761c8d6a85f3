package dwarfinfo

import (
	"cmp"
	"debug/dwarf"
	"slices"
	"strings"

	"symkit/check/internal/naming"
	"symkit/internal/wire"
)

// Ref names a DIE by its offset in .debug_info, of the file itself or of its supplementary file
// (dwz's .gnu_debugaltlink; DWARF 5 §7.3.6). The zero value names no DIE.
type Ref struct {
	Off dwarf.Offset
	alt bool
}

// referenceOf returns the DIE that an attribute refers to.
func referenceOf(f *dwarf.Field) Ref {
	switch v := f.Val.(type) {
	case dwarf.Offset:
		return Ref{Off: v}
	case int64: // DW_FORM_GNU_ref_alt
		if f.Class == dwarf.ClassReferenceAlt {
			return Ref{dwarf.Offset(v), true}
		}
	case uint32: // DW_FORM_ref_sup4
		return Ref{dwarf.Offset(v), true}
	case uint64: // DW_FORM_ref_sup8; DW_FORM_ref_sig8 is of type units, which name no function
		if f.Class == dwarf.ClassReference {
			return Ref{dwarf.Offset(v), true}
		}
	}
	return Ref{}
}

// text returns the string of an attribute. It returns false if the string is in a supplementary
// file that was not found.
func (d *Info) text(f *dwarf.Field) (string, bool) {
	var off uint64
	switch v := f.Val.(type) {
	case string:
		return v, true
	case int64: // DW_FORM_GNU_strp_alt
		off = uint64(v)
	case uint32: // DW_FORM_strp_sup
		off = uint64(v)
	case uint64:
		off = v
	default:
		return "", true
	}

	// The value is an offset into the supplementary file's .debug_str.
	if d.Alt == nil {
		return "", false
	}
	c := wire.New(".debug_str", d.Alt.str, d.bigEndian)
	c.Seek(off)
	text := c.CString()
	d.strings.Add(int64(-len(text)))
	return string(text), c.Err() == nil
}

// UnitName returns DW_AT_name of the unit, empty if the unit has none.
func (s *Scan) UnitName() string {
	if s.Root == nil {
		return ""
	}
	name, _ := s.Root.Val(dwarf.AttrName).(string)
	return name
}

// attrMIPSLinkageName is DW_AT_MIPS_linkage_name, which older compilers wrote.
const attrMIPSLinkageName = dwarf.Attr(0x2007)

// declOf reads the attributes that name a subprogram. The caller knows its scope.
func (d *Info) declOf(e *dwarf.Entry) decl {
	n := decl{Off: e.Offset, scope: -1}
	read := func(f *dwarf.Field) string {
		text, ok := d.text(f)
		n.unread = n.unread || !ok
		return text
	}

	// An abstract origin counts before a specification.
	for i := range e.Field {
		switch f := &e.Field[i]; f.Attr {
		case dwarf.AttrName:
			n.name = read(f)
		case dwarf.AttrLinkageName:
			n.linkage = read(f)
		case attrMIPSLinkageName:
			n.linkage = cmp.Or(n.linkage, read(f))
		case dwarf.AttrAbstractOrigin:
			n.setOrigin(referenceOf(f))
		case dwarf.AttrSpecification:
			if n.origin == 0 {
				n.setOrigin(referenceOf(f))
			}
		}
	}
	return n
}

// FarReader reads single DIEs outside of the current unit. One goroutine uses it.
type FarReader struct {
	data   *Info
	reader *dwarf.Reader
	alt    *dwarf.Reader // nil without a supplementary file
}

// Far returns a new reader.
func (d *Info) Far() *FarReader {
	r := &FarReader{data: d, reader: d.Reader()}
	if d.Alt != nil {
		r.alt = d.Alt.Reader()
	}
	return r
}

// decl reads the names of a DIE in another unit or file, or in a subtree that the scan skipped. The
// scope of the DIE is not known. decl returns nil if there is no such DIE.
func (r *FarReader) decl(at Ref) *decl {
	data, reader := r.data, r.reader
	if at.alt {
		if r.alt == nil {
			return nil
		}
		data, reader = data.Alt, r.alt
	}

	reader.Seek(at.Off)
	e, err := reader.Next()
	if err != nil || e == nil {
		return nil
	}
	_ = data.readStrings(e) // Exhausted returns the error
	d := data.declOf(e)
	d.originAlt = d.originAlt || at.alt
	return &d
}

// declAt returns the subprogram DIE that at refers to, nil if it is not in this unit.
func (s *Scan) declAt(at Ref) *decl {
	if at.alt {
		return nil
	}

	i, ok := slices.BinarySearchFunc(s.Decls, at.Off, func(d decl, o dwarf.Offset) int { return cmp.Compare(d.Off, o) })
	if !ok {
		return nil
	}
	return &s.Decls[i]
}

// scopePath is the names of scopes, outermost first, each followed by NUL. The name of an unnamed
// scope is "".
type scopePath struct {
	text  string
	far   bool // the path is too long, and not known
	typed bool // some names are in type units, and not known
}

// path returns the path of the scope with index i, -1 for no scope. Names of functions are cut at
// 64 KiB; longer paths are not kept.
func (s *Scan) path(i int32) scopePath {
	if i < 0 {
		return scopePath{}
	}
	if p, ok := s.paths[i]; ok {
		return p
	}

	c := &s.scopes[i]

	// A path that is too long is not kept, nor are those of the scopes in it.
	p, name := s.path(c.parent), s.scopeName(c)
	p.typed = p.typed || c.typed
	n := uint64(len(p.text) + len(name) + 1)
	p.far = p.far || n > 1<<naming.MaxNameLog || n > s.pathBytes
	if p.far {
		p.text = ""
	} else {
		p.text += name + "\x00"
		s.pathBytes -= n
	}
	s.paths[i] = p
	return p
}

// scopeName returns the name of a scope. The name of a function may be at its origin. Its linkage
// name, if it has one, follows after naming.LinkageMark.
func (s *Scan) scopeName(c *scope) string {
	if c.decl < 0 {
		return c.name
	}
	d := &s.Decls[c.decl]

	// Of several declarations the nearest one with a name decides.
	name, linkage := d.name, d.linkage
	for range maxChain {
		d = s.declAt(d.from())
		if d == nil {
			break
		}
		name, linkage = cmp.Or(name, d.name), cmp.Or(linkage, d.linkage)
	}
	if linkage != "" {
		name += naming.LinkageMark + linkage
	}
	return name
}

// maxChain bounds the steps from a concrete function to its first declaration. Compilers write at
// most three.
const maxChain = 32

// Naming follows a subprogram DIE to the attributes that name it.
func (s *Scan) Naming(at Ref, far *FarReader) (n naming.Key) {
	var path scopePath
	for range maxChain {
		d := s.declAt(at)
		if d == nil {
			n.Far = true
			d = far.decl(at)
			if d == nil {
				n.Unread = n.Unread || at.alt
				break
			}
		}

		// The first declaration with a name, or the last of all, has the scope.
		n.Linkage, n.Name = cmp.Or(n.Linkage, d.linkage), cmp.Or(n.Name, d.name)
		n.Unread = n.Unread || d.unread
		if d.name != "" || d.origin == 0 {
			path = s.path(d.scope)
		}

		if d.origin == 0 {
			break
		}
		at = d.from()
	}

	if n.Linkage == "" && strings.HasPrefix(n.Name, "_Z") {
		n.Linkage = n.Name // of Nim, which is compiled through C
	}
	n.Scope, n.Far, n.Typed = path.text, n.Far || path.far, path.typed
	n.Ada = naming.IsAda(s.lang)
	return n
}

// IsSplit reports whether the functions of a unit are in a .dwo file.
func IsSplit(root *dwarf.Entry) bool {
	return root.Val(dwarf.AttrDwoName) != nil || root.Val(attrGNUDwoName) != nil || root.Tag == dwarf.TagSkeletonUnit
}

// attrGNUDwoName is DW_AT_GNU_dwo_name, of split DWARF 4.
const attrGNUDwoName = dwarf.Attr(0x2130)
