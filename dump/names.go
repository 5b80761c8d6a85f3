package dump

import (
	"cmp"
	"encoding/binary"
	"slices"

	"symkit/dump/dwarfx"
	"symkit/dump/names"
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
	// language is that of the function's own unit: the partial units of dwz do
	// not tell theirs.
	language dwarfx.Language
	lost     bool // see dwarfx.Naming
}

// complete completes what a DIE of u itself says by what its origin says.
func complete(u *dwarfx.Unit, own dwarfx.Naming, origin dwarfx.Ref) naming {
	if origin != 0 && own.Linkage == nil {
		more, err := u.Data().NameOf(origin)
		if err == nil && more.Unit != nil {
			own.Linkage, own.Decl, own.Unit = more.Linkage, more.Decl, more.Unit
			if own.Name == nil {
				own.Name = more.Name
			}
		}
		own.Lost = own.Lost || more.Lost
	}
	n := naming{key: own.Linkage, name: own.Name, decl: own.Decl, unit: own.Unit, language: u.Language, lost: own.Lost}
	if n.linkage = len(n.key) > 0; !n.linkage {
		// gnat's plain names are encoded like linkage names: pkg__sub.
		n.key, n.linkage = n.name, u.Language.IsAda()
	}
	return n
}

// nameTable turns namings into names, each once.
type nameTable struct {
	ids   map[string]uint32 // index of todo
	datas map[*dwarfx.Data]uint64
	todo  []naming
	text  []string
}

// data numbers the files that names come from.
func (t *nameTable) data(d *dwarfx.Data) uint64 {
	n, ok := t.datas[d]
	if !ok {
		if t.datas == nil {
			t.datas = map[*dwarfx.Data]uint64{}
		}
		n = uint64(len(t.datas))
		t.datas[d] = n
	}
	return n
}

// id returns the number of a naming's name. It must not be called while
// resolve runs.
func (t *nameTable) id(n *naming) uint32 {
	if t.ids == nil {
		t.ids = map[string]uint32{}
	}
	var buf [256]byte
	key := append(buf[:0], n.key...)
	if !n.linkage && n.language.Separator() != "" { // in one scope or another
		key = binary.LittleEndian.AppendUint64(key, uint64(n.decl))
		key = binary.LittleEndian.AppendUint64(key, t.data(n.unit.Data()))
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
		if plain[i] && t.todo[i].language.Separator() != "" {
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
		if text, ok := names.ForLanguage(uint16(n.language), n.key); ok {
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
	slices.SortFunc(ids, func(a, b uint32) int {
		x, y := &todo[a], &todo[b]
		return cmp.Or(cmp.Compare(d.names.data(x.unit.Data()), d.names.data(y.unit.Data())), cmp.Compare(x.decl, y.decl))
	})
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
			_ = u.Data().Parents(u, refs, func(k int, parents []dwarfx.Ref) {
				text := &d.names.text[ids[k]]
				x := scoper{language: todo[ids[k]].language}
				*text = x.scope(u, parents, *text) + *text
			})
			return nil
		}
	})
}
