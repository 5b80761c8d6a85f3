package check

import (
	"cmp"
	"debug/dwarf"
	"slices"
	"strings"

	"symkit/internal/wire"
)

// dieRef names a DIE: by its offset in .debug_info, of the file itself or of
// its supplementary file (dwz's .gnu_debugaltlink; DWARF 5 §7.3.6). The zero
// value is none.
type dieRef struct {
	off dwarf.Offset
	alt bool
}

// referenceOf is the DIE that an attribute refers to.
func referenceOf(f *dwarf.Field) dieRef {
	switch v := f.Val.(type) {
	case dwarf.Offset:
		return dieRef{off: v}
	case int64: // DW_FORM_GNU_ref_alt
		if f.Class == dwarf.ClassReferenceAlt {
			return dieRef{dwarf.Offset(v), true}
		}
	case uint32: // DW_FORM_ref_sup4
		return dieRef{dwarf.Offset(v), true}
	case uint64: // DW_FORM_ref_sup8; DW_FORM_ref_sig8 is of type units, which name no function
		if f.Class == dwarf.ClassReference {
			return dieRef{dwarf.Offset(v), true}
		}
	}
	return dieRef{}
}

// text is the string of an attribute; false where it is in a supplementary
// file that is not there.
func (d *dwarfData) text(f *dwarf.Field) (string, bool) {
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
	if d.alt == nil {
		return "", false
	}
	c := wire.New(".debug_str", d.alt.str, d.bigEndian)
	c.Seek(off)
	text := c.CString()
	d.strings.Add(int64(-len(text)))
	return string(text), c.Err() == nil
}

// attrMIPSLinkageName is DW_AT_MIPS_linkage_name, which older compilers wrote.
const attrMIPSLinkageName = dwarf.Attr(0x2007)

// declOf reads what names a subprogram. Its scope is not known here.
func (d *dwarfData) declOf(e *dwarf.Entry) decl {
	n := decl{off: e.Offset, scope: -1}
	read := func(f *dwarf.Field) string {
		text, ok := d.text(f)
		n.unread = n.unread || !ok
		return text
	}
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

// farReader reads single DIEs outside of the unit under way. It is used by one
// goroutine.
type farReader struct {
	data   *dwarfData
	reader *dwarf.Reader
	alt    *dwarf.Reader // nil: no supplementary file
}

func (d *dwarfData) far() *farReader {
	r := &farReader{data: d, reader: d.Reader()}
	if d.alt != nil {
		r.alt = d.alt.Reader()
	}
	return r
}

// decl reads the names of a DIE in another unit or file, or in a subtree that
// the scan passed over. Its scope is not known. It is nil for one that is not
// there.
func (r *farReader) decl(at dieRef) *decl {
	data, reader := r.data, r.reader
	if at.alt {
		if r.alt == nil {
			return nil
		}
		data, reader = data.alt, r.alt
	}
	reader.Seek(at.off)
	e, err := reader.Next()
	if err != nil || e == nil {
		return nil
	}
	_ = data.readStrings(e) // see exhausted
	d := data.declOf(e)
	d.originAlt = d.originAlt || at.alt
	return &d
}

// declAt is the subprogram DIE that is referred to, nil if it is not of this
// unit.
func (s *unitScan) declAt(at dieRef) *decl {
	if at.alt {
		return nil
	}
	i, ok := slices.BinarySearchFunc(s.decls, at.off, func(d decl, o dwarf.Offset) int { return cmp.Compare(d.off, o) })
	if !ok {
		return nil
	}
	return &s.decls[i]
}

// scopePath is the names of scopes, outermost first, each followed by NUL; one
// without a name is "".
type scopePath struct {
	text string
	far  bool // it is too long, and not known
}

// path is that of the scope with an index, -1 for none. Names of functions are cut
// at 64 KiB; paths longer than that are not kept.
func (s *unitScan) path(i int32) scopePath {
	if i < 0 {
		return scopePath{}
	}
	if p, ok := s.paths[i]; ok {
		return p
	}
	c := &s.scopes[i]
	p, name := s.path(c.parent), s.scopeName(c)
	n := uint64(len(p.text) + len(name) + 1)
	if p.far = p.far || n > 1<<maxNameLog || n > s.pathBytes; p.far {
		p.text = ""
	} else {
		p.text += name + "\x00"
		s.pathBytes -= n
	}
	s.paths[i] = p
	return p
}

// scopeName is the name of a scope; that of a function may be at its origin,
// and its linkage name, where it has one, follows behind linkageMark.
func (s *unitScan) scopeName(c *scope) string {
	if c.decl < 0 {
		return c.name
	}
	d := &s.decls[c.decl]
	name, linkage := d.name, d.linkage
	for range maxChain {
		if d = s.declAt(d.from()); d == nil {
			break
		}
		name, linkage = cmp.Or(name, d.name), cmp.Or(linkage, d.linkage)
	}
	if linkage != "" {
		name += linkageMark + linkage
	}
	return name
}

// maxChain bounds the steps from a concrete function to its first declaration.
const maxChain = 16

// naming follows a subprogram DIE to what names it.
func (s *unitScan) naming(at dieRef, far *farReader) (n nameKey) {
	var path scopePath
	for range maxChain {
		d := s.declAt(at)
		if d == nil {
			n.far = true
			if d = far.decl(at); d == nil {
				n.unread = n.unread || at.alt
				break
			}
		}
		n.linkage, n.name = cmp.Or(n.linkage, d.linkage), cmp.Or(n.name, d.name)
		n.unread = n.unread || d.unread
		if d.name != "" || d.origin == 0 {
			path = s.path(d.scope)
		}
		if d.origin == 0 {
			break
		}
		at = d.from()
	}
	if n.linkage == "" && strings.HasPrefix(n.name, "_Z") {
		n.linkage = n.name // Nim's, which is compiled by way of C
	}
	n.scope, n.far = path.text, n.far || path.far
	n.ada = isAda(s.lang)
	return n
}
