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
	return string(c.CString()), c.Err() == nil
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
			n.origin = referenceOf(f)
		case dwarf.AttrSpecification:
			if n.origin.off == 0 {
				n.origin = referenceOf(f)
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
	d := data.declOf(e)
	d.origin.alt = d.origin.alt || at.alt
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

// scopePath lists the names of the scopes around a declaration, outermost
// first; one without a name is "".
func (s *unitScan) scopePath(i int32) (path []string) {
	for ; i >= 0; i = s.scopes[i].parent {
		path = append(path, s.scopeName(&s.scopes[i]))
	}
	slices.Reverse(path)
	return path
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
		if d = s.declAt(d.origin); d == nil {
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
	var path []string
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
		if d.name != "" || d.origin.off == 0 {
			path = s.scopePath(d.scope)
		}
		if d.origin.off == 0 {
			break
		}
		at = d.origin
	}
	if len(path) > 0 {
		n.scope = strings.Join(path, "\x00") + "\x00"
	}
	return n
}
