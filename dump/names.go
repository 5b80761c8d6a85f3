package dump

import (
	"cmp"
	"debug/dwarf"
	"slices"
	"strings"

	"github.com/ianlancetaylor/demangle"

	"symkit/dump/dwarfx"
)

// omitted is the name of what has none, as both peers write it.
const omitted = "<name omitted>"

// naming is what names a function, before any of it is turned into text.
type naming struct {
	// key is the linkage name or, without one, the plain name. Two functions
	// with the same key are the same.
	key []byte
	// scoped: key is a plain name that scope belongs to, at decl in unit.
	scoped  bool
	linkage bool
	decl    dwarfx.Ref
	unit    *dwarfx.Unit
}

// naming completes what a DIE itself says by what its origin says.
func (d *dumper) naming(own dwarfx.Naming, origin dwarfx.Ref) naming {
	if origin != 0 && own.Linkage == 0 {
		if more, err := d.dw.NameOf(origin); err == nil {
			own.Linkage, own.Decl, own.Unit = more.Linkage, more.Decl, more.Unit
			if own.Name == 0 {
				own.Name = more.Name
			}
		}
	}
	n := naming{linkage: own.Linkage != 0, decl: own.Decl, unit: own.Unit}
	str := own.Name
	if n.linkage {
		str = own.Linkage
	}
	// A string outside of its section is no name.
	n.key, _ = d.dw.String(str)
	n.scoped = !n.linkage && len(n.key) > 0 && own.Unit.Language.Separator() != ""
	return n
}

// demangleOptions keep a name below what a record may hold.
var demangleOptions = []demangle.Option{demangle.MaxLength(16)}

// readable turns a linkage name into what people read.
func readable(linkage []byte) string {
	s := string(linkage)
	if out, err := demangle.ToString(s, demangleOptions...); err == nil {
		return out
	}
	return s
}

// nameTable turns namings into names, each once.
type nameTable struct {
	ids  map[string]uint32 // key of nameKey to index of todo
	todo []naming
	text []string
}

// id returns the number of a naming's name. It must not be called while
// resolve runs.
func (t *nameTable) id(n *naming) uint32 {
	if t.ids == nil {
		t.ids = map[string]uint32{}
	}
	var buf [256]byte
	key := append(buf[:0], n.key...)
	switch {
	case n.linkage:
		key = append(key, 'l')
	case n.scoped:
		for ref := n.decl; ref != 0; ref >>= 8 {
			key = append(key, byte(ref))
		}
		key = append(key, 's')
	}
	if id, ok := t.ids[string(key)]; ok {
		return id
	}
	id := uint32(len(t.todo))
	t.ids[string(key)] = id
	t.todo = append(t.todo, *n)
	return id
}

// resolveNames makes the text of all names that were asked for.
func (d *dumper) resolveNames() error {
	t := &d.names
	t.text = make([]string, len(t.todo))
	var scoped []uint32
	for i := range t.todo {
		if t.todo[i].scoped {
			scoped = append(scoped, uint32(i))
		}
	}
	const chunk = 256
	err := d.each((len(t.todo)+chunk-1)/chunk, func() func(int) error {
		return func(c int) error {
			for i := c * chunk; i < min((c+1)*chunk, len(t.todo)); i++ {
				switch n := &t.todo[i]; {
				case len(n.key) == 0:
					t.text[i] = omitted
				case n.linkage:
					t.text[i] = readable(n.key)
				default:
					t.text[i] = string(n.key)
				}
			}
			return nil
		}
	})
	if err != nil {
		return err
	}
	return d.qualify(scoped)
}

// qualify puts the scopes in front of the names ids.
func (d *dumper) qualify(ids []uint32) error {
	todo := d.names.todo
	slices.SortFunc(ids, func(a, b uint32) int { return cmp.Compare(todo[a].decl, todo[b].decl) })
	var units [][]uint32 // ids by unit
	for from := 0; from < len(ids); {
		to := from
		for to < len(ids) && todo[ids[to]].unit == todo[ids[from]].unit {
			to++
		}
		units = append(units, ids[from:to])
		from = to
	}
	return d.each(len(units), func() func(int) error {
		return func(i int) error {
			ids := units[i]
			refs := make([]dwarfx.Ref, len(ids))
			for k, id := range ids {
				refs[k] = todo[id].decl
			}
			u := todo[ids[0]].unit
			// Damage that keeps a scope from being read was met by the scan.
			_ = d.dw.Parents(u, refs, func(k int, parents []dwarfx.Ref) {
				d.names.text[ids[k]] = d.scope(u, parents) + d.names.text[ids[k]]
			})
			return nil
		}
	})
}

// scope returns the names of the parents, each followed by the separator.
func (d *dumper) scope(u *dwarfx.Unit, parents []dwarfx.Ref) string {
	var b strings.Builder
	sep := u.Language.Separator()
	for _, p := range parents {
		part, ok := d.scopeName(p)
		if ok {
			b.WriteString(part)
			b.WriteString(sep)
		}
	}
	return b.String()
}

// scopeName returns what a DIE adds to the names in it.
func (d *dumper) scopeName(ref dwarfx.Ref) (string, bool) {
	tag := d.dw.TagAt(ref)
	anonymous := ""
	switch tag {
	case dwarf.TagNamespace:
		anonymous = "(anonymous namespace)"
	case dwarf.TagClassType, dwarf.TagStructType, dwarf.TagUnionType, dwarf.TagInterfaceType, dwarf.TagEnumerationType:
		anonymous = "(anonymous)"
	case dwarf.TagModule, dwarf.TagSubprogram:
	default:
		return "", false
	}
	n, err := d.dw.NameOf(ref)
	if err != nil {
		return "", false
	}
	if name, _ := d.dw.String(n.Name); len(name) > 0 {
		return string(name), true
	}
	return anonymous, anonymous != ""
}
