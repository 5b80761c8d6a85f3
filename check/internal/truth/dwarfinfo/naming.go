package dwarfinfo

import (
	"bytes"
	"cmp"
	"hash/maphash"
	"slices"

	"symkit/check/internal/naming"
	"symkit/internal/hashindex"
)

// decl is the attributes that name a DIE. The strings alias sections.
type decl struct {
	linkage, name     []byte
	linkageID, nameID stringID
	origin            Ref  // abstract origin or specification
	function          bool // the DIE is a subprogram
	typed             bool // a type unit has the name (DW_AT_signature)
	unread            bool // a name is in a supplementary file that was not found
}

// Name returns DW_AT_name of the unit, empty if the unit has none. It may be called until the
// functions of the unit are read.
func (u *Unit) Name() (name string) {
	e := u.entryAt(u.root, func(attr uint64, v value) {
		if attr == attrName {
			text, _, _ := u.text(v)
			name = string(text)
		}
	})
	u.in.spend(e.cost)
	return name
}

// declAt reads the DIE at an offset. It returns nil if there is no such DIE.
func (u *Unit) declAt(off int) *decl {
	if u.in.work.Load() < 0 {
		return nil // Exhausted returns the error
	}
	var d decl
	size := 0 // of the strings
	text := func(v value) ([]byte, stringID) {
		text, id, found := u.text(v)
		d.unread = d.unread || !found
		size += len(text)
		return text, id
	}

	// An abstract origin counts before a specification.
	signature, abstract := false, false
	e := u.entryAt(off, func(attr uint64, v value) {
		switch attr {
		case attrName:
			d.name, d.nameID = text(v)
		case attrLinkageName:
			d.linkage, d.linkageID = text(v)
		case attrMIPSLinkage:
			if len(d.linkage) == 0 {
				d.linkage, d.linkageID = text(v)
			}
		case attrAbstractOrigin:
			d.origin, abstract = u.reference(v), true
		case attrSpecification:
			if !abstract {
				d.origin = u.reference(v)
			}
		case attrSignature:
			signature = true
		}
	})
	u.in.spend(e.cost + size)
	if e.tag == 0 {
		return nil
	}
	d.typed = signature && len(d.name) == 0
	d.function = kindOf(uint64(e.tag)) == kindFunction
	return &d
}

// farDecl reads a DIE of another unit or of the supplementary file. It returns nil if there is no
// such DIE. Where no unit refers to another one, other units may not be read yet: an offset outside
// of the unit is damage then, and names no DIE.
func (u *Unit) farDecl(at Ref) *decl {
	in := u.in
	switch {
	case at.alt:
		in = in.Alt
	case in.stream.alone && at.Off >= u.root && at.Off < u.end:
		return u.declAt(at.Off)
	case in.stream.alone:
		return nil
	}
	if in == nil {
		return nil
	}
	i, found := slices.BinarySearchFunc(in.units, at.Off, func(u *Unit, off int) int { return cmp.Compare(u.Off, off) })
	if !found {
		i--
	}
	if i < 0 {
		return nil
	}
	far := in.units[i].declAt(at.Off)
	if far != nil {
		far.origin.alt = far.origin.alt || at.alt
	}
	return far
}

// Namer numbers the names of functions. One goroutine uses it. Most names come again and again: the
// offsets of their strings are compared, and the strings themselves only once.
type Namer struct {
	table *naming.Table
	seed  maphash.Seed
	index hashindex.Index // of names
	names []named
	paths map[pathKey]uint32
	list  []scopePath // by number; number 0 is the path of names in no scope

	scan   *Scan
	refs   refTable // numbers of names, of the unit
	scopes []uint32 // 1 more than the number of the path, by index of scan.scopes; 0: not known
}

// nameKey identifies a name.
type nameKey struct {
	linkage, name stringID
	path          uint32
	naming.Traits
}

// named is a name with its number in Namer.table.
type named struct {
	nameKey
	id uint32
}

// pathKey identifies a path.
type pathKey struct {
	parent        uint32
	name, linkage stringID
	typed         bool
}

// scopePath is a scope and the scopes around it.
type scopePath struct {
	parent uint32
	text   string // the scope's own name
	length int    // of the texts of all scopes, each followed by NUL
	far    bool   // the path is too long, so its text is not kept

	numbered bool   // number is set
	number   uint32 // of the texts of all scopes, in Namer.table
	typed    bool   // some names are in type units, and not known
}

// NewNamer returns a Namer of names in table.
func NewNamer(table *naming.Table) *Namer {
	return &Namer{table: table, seed: maphash.MakeSeed(), paths: map[pathKey]uint32{}, list: make([]scopePath, 1)}
}

// Unit begins a new unit, and numbers the names of its functions.
func (n *Namer) Unit(s *Scan) {
	n.scan = s
	n.refs.clear()
	n.scopes = append(n.scopes[:0], make([]uint32, len(s.scopes))...)
	for i := range s.Funcs {
		s.Funcs[i].Name = n.id(s.Funcs[i].Ref)
	}
}

// Calls numbers the names of the inlined calls of the unit.
func (n *Namer) Calls() {
	for i := range n.scan.Inlines {
		n.scan.Inlines[i].Name = n.id(n.scan.Inlines[i].Origin)
	}
}

// maxChain bounds the steps from a concrete function to its first declaration. Compilers write at
// most three.
const maxChain = 32

// id returns the number of the name of the function that at refers to.
func (n *Namer) id(at Ref) uint32 {
	key := at.key()
	id, ok := n.refs.get(key)
	if !ok {
		id = n.resolve(at)
		n.refs.add(key, id)
	}
	return id
}

// resolve follows a subprogram DIE to the attributes that name it.
func (n *Namer) resolve(at Ref) uint32 {
	u := n.scan.Unit
	key := nameKey{Traits: naming.Traits{Ada: naming.IsAda(int64(u.lang))}}
	var linkage, name []byte
	for range maxChain {
		d := n.local(at)
		local := d != nil
		if !local {
			key.Far = true
			d = u.farDecl(at)
			if d == nil {
				key.Unread = key.Unread || at.alt
				break
			}
		}

		// The first declaration with a name, or the last of all, has the scope.
		if len(linkage) == 0 {
			linkage, key.linkage = d.linkage, d.linkageID
		}
		if len(name) == 0 {
			name, key.name = d.name, d.nameID
		}
		key.Unread = key.Unread || d.unread
		if len(d.name) > 0 || d.origin.Off == 0 {
			key.path = 0
			if local {
				key.path = n.pathOf(n.scan.scopeAt(at.Off))
			}
		}

		if d.origin.Off == 0 {
			break
		}
		at = d.origin
	}
	p := &n.list[key.path]
	key.Far, key.Typed = key.Far || p.far, p.typed

	hash := maphash.Comparable(n.seed, key)
	i, ok := n.index.Find(hash, func(i uint32) bool { return n.names[i].nameKey == key })
	if ok {
		return n.names[i].id
	}
	if len(linkage) == 0 && (bytes.HasPrefix(name, []byte("_Z")) || isAssembly(u.lang)) {
		linkage = name // a symbol's; of Nim, which is compiled through C
	}
	id := n.number(key, linkage, name)
	n.index.Add(hash, uint32(len(n.names)))
	n.names = append(n.names, named{key, id})
	return id
}

// isAssembly reports whether a language is that of an assembler.
func isAssembly(lang uint64) bool { return lang == 0x31 || lang == 0x8001 }

// number returns the number in the table of a name with its texts.
func (n *Namer) number(key nameKey, linkage, name []byte) uint32 {
	p, scope := &n.list[key.path], uint32(0)
	if !p.far {
		if !p.numbered {
			p.number, p.numbered = n.table.Scope(n.text(key.path)), true
		}
		scope = p.number
		n.scan.Unit.in.spend(p.length)
	}
	return n.table.Number(linkage, name, scope, key.Traits)
}

// text returns the names of the scopes of a path, outermost first, each followed by NUL. The name
// of an unnamed scope is "".
func (n *Namer) text(number uint32) string {
	text := make([]byte, n.list[number].length)
	for end := len(text); number != 0; number = n.list[number].parent {
		own := n.list[number].text
		end -= len(own) + 1
		copy(text[end:], own)
	}
	return string(text)
}

// local reads a subprogram of the unit itself. It returns nil for any other DIE.
func (n *Namer) local(at Ref) *decl {
	u := n.scan.Unit
	if at.alt || at.Off < u.root || at.Off >= u.end {
		return nil
	}
	d := u.declAt(at.Off)
	if d == nil || !d.function {
		return nil
	}
	return d
}

// scopeAt returns the index of the innermost scope around a DIE, -1 if there is none.
func (s *Scan) scopeAt(off int) int32 {
	i, _ := slices.BinarySearchFunc(s.scopes, off, func(c scope, off int) int { return cmp.Compare(c.off, off) })
	at := int32(i - 1)
	for at >= 0 && s.scopes[at].end <= off {
		at = s.scopes[at].parent
	}
	return at
}

// pathOf returns the number of the path of scope i, -1 for no scope. Names of functions are cut at
// 64 KiB; longer paths are not kept.
func (n *Namer) pathOf(i int32) uint32 {
	if i < 0 {
		return 0
	}
	if n.scopes[i] != 0 {
		return n.scopes[i] - 1
	}

	// Of several declarations of a function the nearest one with a name decides.
	c := &n.scan.scopes[i]
	key := pathKey{parent: n.pathOf(c.parent)}
	var name, linkage []byte
	d := n.scan.Unit.declAt(c.off)
	for range maxChain + 1 {
		if d == nil {
			break
		}
		key.typed = key.typed || d.typed && !c.function
		if len(name) == 0 {
			name, key.name = d.name, d.nameID
		}
		if !c.function {
			break
		}
		if len(linkage) == 0 {
			linkage, key.linkage = d.linkage, d.linkageID
		}
		d = n.local(d.origin)
	}

	number, ok := n.paths[key]
	if !ok {
		number = n.addPath(key, name, linkage)
	}
	n.scopes[i] = number + 1
	return number
}

// addPath adds a path. The linkage name of its scope, if it has one, follows after
// naming.LinkageMark.
func (n *Namer) addPath(key pathKey, name, linkage []byte) uint32 {
	parent := &n.list[key.parent]
	text := string(name)
	if len(linkage) > 0 {
		text += naming.LinkageMark + string(linkage)
	}
	p := scopePath{parent: key.parent, text: text, length: parent.length + len(text) + 1, typed: parent.typed || key.typed}
	p.far = parent.far || p.length > 1<<naming.MaxNameLog
	if p.far {
		p.text, p.length = "", parent.length+1
	}

	number := uint32(len(n.list))
	n.list = append(n.list, p)
	n.paths[key] = number
	return number
}
