package dump

import (
	"cmp"
	"debug/dwarf"
	"encoding/binary"
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
	key     []byte
	linkage bool
	// name is the plain name; the scope around decl, in unit, belongs to it.
	name []byte
	decl dwarfx.Ref
	unit *dwarfx.Unit
}

// naming completes what a DIE itself says by what its origin says.
func (d *dumper) naming(own dwarfx.Naming, origin dwarfx.Ref) naming {
	if origin != 0 && own.Linkage == 0 {
		if more, err := d.dw.NameOf(origin); err == nil {
			own.Linkage, own.Decl, own.Unit = more.Linkage, more.Decl, more.Unit
			own.Name = cmp.Or(own.Name, more.Name)
		}
	}
	// A string outside of its section is no name.
	n := naming{decl: own.Decl, unit: own.Unit}
	n.name, _ = d.dw.String(own.Name)
	n.key, _ = d.dw.String(own.Linkage)
	if n.linkage = len(n.key) > 0; !n.linkage {
		n.key = n.name
	}
	return n
}

// demangleOptions keep a name below what a record may hold.
var demangleOptions = []demangle.Option{demangle.MaxLength(16)}

// demangled turns a linkage name into what people read; ok is false for one
// that is not mangled, or in no way that is known.
func demangled(linkage []byte) (text string, ok bool) {
	text, err := demangle.ToString(string(linkage), demangleOptions...)
	return text, err == nil
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
	if !n.linkage && n.unit.Language.Separator() != "" {
		key = binary.LittleEndian.AppendUint64(key, uint64(n.decl)) // in one scope or another
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
	plain := make([]bool, len(t.todo)) // its scope is not in it yet
	const chunk = 256
	err := d.each((len(t.todo)+chunk-1)/chunk, func() func(int) error {
		return func(c int) error {
			for i := c * chunk; i < min((c+1)*chunk, len(t.todo)); i++ {
				t.text[i], plain[i] = t.todo[i].text()
			}
			return nil
		}
	})
	if err != nil {
		return err
	}
	var ids []uint32
	for i := range plain {
		if plain[i] && t.todo[i].unit.Language.Separator() != "" {
			ids = append(ids, uint32(i))
		}
	}
	return d.qualify(ids)
}

// text is the name to write; plain tells that its scope is to be put in front.
// A linkage name that is not mangled is an assembler label: glibc's __GI_warn
// is the function warn.
func (n *naming) text() (text string, plain bool) {
	if n.linkage {
		if text, ok := demangled(n.key); ok {
			return text, false
		}
	}
	switch {
	case len(n.name) > 0:
		return string(n.name), true
	case len(n.key) > 0:
		return string(n.key), false
	}
	return omitted, false
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
