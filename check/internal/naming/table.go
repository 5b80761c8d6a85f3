package naming

import (
	"cmp"
	"hash/maphash"
	"strings"
	"sync"
)

// Table numbers names and decides which texts are acceptable for them. A
// name is acceptable as any of:
//   - the linkage name itself, or demangled;
//   - demangled without return type, parameters or template arguments, as
//     tools that shorten names write it;
//   - what has the same words in the same order;
//   - the plain name, alone or after scopes, divided by "::" or "."; the
//     innermost of these that has a name is the one that the DWARF has;
//
// and spaces do not count, since demanglers differ in them.
type Table struct {
	// Most bounds the number of bytes of all names; 0 means any number. Beyond it names are
	// no longer kept, and ID returns 0.
	Most uint64

	mu   sync.Mutex
	ids  map[Key]uint32
	keys []Key
	// first holds a hash of the first acceptable text of each name, computed when first needed.
	// Nearly all comparisons end there; the texts themselves would take most of the memory.
	first []uint64
	seed  maphash.Seed
	bytes uint64 // of the keys
}

// NewTable returns an empty table.
func NewTable() *Table {
	return &Table{ids: map[Key]uint32{}, seed: maphash.MakeSeed()}
}

// ID returns the number of a name. Once Size is above Most, the number may be wrong.
func (t *Table) ID(k Key) uint32 {
	t.mu.Lock()
	defer t.mu.Unlock()
	if id, ok := t.ids[k]; ok {
		return id
	}
	if t.Most > 0 && t.bytes > t.Most {
		return 0
	}

	id := uint32(len(t.keys))
	t.ids[k] = id
	t.bytes += uint64(len(k.Linkage) + len(k.Name) + len(k.Scope))
	t.keys = append(t.keys, k)
	t.first = append(t.first, 0)
	return id
}

// Size returns the number of bytes of all names.
func (t *Table) Size() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.bytes
}

// Unread reports whether a name is not known in full.
func (t *Table) Unread(id uint32) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.keys[id].Unread
}

// Texts yields the normalised texts that are acceptable for a name.
func (t *Table) Texts(id uint32, yield func(string) bool) {
	t.mu.Lock()
	k := t.keys[id]
	t.mu.Unlock()
	acceptable(k, yield)
}

// Text returns a name as findings show it.
func (t *Table) Text(id uint32) string {
	t.mu.Lock()
	k := t.keys[id]
	t.mu.Unlock()
	switch {
	case k.Linkage != "":
		return readable(k.Linkage)
	case k.Name == "":
		return nameOmitted
	case k.Scope == "":
		return k.Name
	}

	scopes := k.scopes()
	for i := range scopes {
		scopes[i] = cmp.Or(scopes[i], anonymousScope)
	}
	return strings.Join(scopes, "::") + "::" + k.Name
}

// nameOmitted is what dumpers write for a function without a name.
const nameOmitted = "<name omitted>"

// Accept reports whether sym, normalised, is acceptable for a name.
func (t *Table) Accept(id uint32, sym string) bool {
	t.mu.Lock()
	k, hash := t.keys[id], t.first[id]
	t.mu.Unlock()

	// The most likely text is compared by its hash; 0 means that no hash is known.
	if hash == 0 {
		first := ""
		acceptable(k, func(s string) bool { first = s; return false })
		hash = maphash.String(t.seed, first) | 1
		t.mu.Lock()
		t.first[id] = hash
		t.mu.Unlock()
	}
	if maphash.String(t.seed, sym)|1 == hash {
		return true
	}

	// The other texts are computed anew each time.
	ok := false
	acceptable(k, func(s string) bool {
		ok = s == sym
		return !ok
	})
	return ok || k.acceptScoped(sym) || k.acceptWords(sym)
}

// Key is what DWARF or a symbol table contains about a function's name.
type Key struct {
	Linkage string // the linkage name, empty without one
	Name    string // the plain name
	Scope   string // the scopes around it, each followed by NUL
	Far     bool   // the scopes are not known: the function is declared in another unit
	Typed   bool   // some scopes are not known: their names are in type units
	Ada     bool   // the unit's language is Ada, so that the name may be encoded: see adaName
	Unread  bool   // part of the name is in a supplementary file that was not found
}

// LinkageMark divides the plain name of a scope from its linkage name.
const LinkageMark = "\x01"

// scopes returns the plain names of the scopes, outermost first.
func (k Key) scopes() []string {
	names, _ := k.scopesAndLinkage()
	return names
}

// scopesAndLinkage returns the plain names of the scopes, and the linkage names of those scopes
// that have one.
func (k Key) scopesAndLinkage() (names, linkage []string) {
	if k.Scope == "" {
		return nil, nil
	}
	names = strings.Split(strings.TrimSuffix(k.Scope, "\x00"), "\x00")
	for i, s := range names {
		plain, link, ok := strings.Cut(s, LinkageMark)
		names[i] = plain
		if ok {
			linkage = append(linkage, link)
		}
	}
	return names, linkage
}
