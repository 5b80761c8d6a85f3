package naming

import (
	"cmp"
	"hash/maphash"
	"strings"
	"sync"

	"symkit/internal/hashindex"
)

// Table numbers names and decides which texts are acceptable for them. A
// name is acceptable as any of:
//   - the linkage name itself, or demangled;
//   - demangled without return type, parameters or template arguments, as
//     tools that shorten names write it;
//   - a text with the same words in the same order;
//   - the plain name, alone or after scopes, divided by "::" or "."; the
//     innermost scope with a name is the one in the DWARF.
//
// Spaces are ignored, since demanglers differ in them.
type Table struct {
	// Most bounds the number of bytes of all names; 0 means any number. Beyond it names are
	// no longer kept, and ID returns 0.
	Most uint64

	mu    sync.Mutex
	texts texts
	index hashindex.Index // of keys
	keys  []storedKey
	// first has the hashes of the first acceptable text of each name. Nearly all comparisons end
	// there; the texts themselves would take most of the memory.
	first []firstText
	bytes uint64 // of the keys
}

// storedKey is a Key with numbers of texts.
type storedKey struct {
	linkage, name, scope uint32
	traits               Traits
}

// hashedKey is what the hash of a Key is made of: hashes, and the number of a text.
type hashedKey struct {
	linkage, name uint64
	scope         uint32
	traits        Traits
}

// firstText is the hashes of a text, each computed when first needed, and 0 before.
type firstText struct {
	exact      uint64
	normalised uint64
}

// NewTable returns an empty table.
func NewTable() *Table {
	return &Table{texts: newTexts()}
}

// ID returns the number of a name. Once Size is above Most, the number may be wrong.
func (t *Table) ID(k Key) uint32 {
	return t.Number([]byte(k.Linkage), []byte(k.Name), t.Scope(k.Scope), k.Traits)
}

// Scope returns the number of a Key's Scope, for Number.
func (t *Table) Scope(scope string) uint32 {
	text := []byte(scope)
	hash := t.texts.hash(text)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.full() {
		return 0
	}
	return t.texts.number(hash, text)
}

// Number is ID for the parts of a Key.
func (t *Table) Number(linkage, name []byte, scope uint32, traits Traits) uint32 {
	nameHash := t.texts.hash(name)
	hash := maphash.Comparable(t.texts.seed, hashedKey{t.texts.hash(linkage), nameHash, scope, traits})
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.full() {
		return 0
	}
	id, ok := t.index.Find(hash, func(id uint32) bool {
		k := &t.keys[id]
		return k.scope == scope && k.traits == traits && string(t.texts.bytes(k.linkage)) == string(linkage) && string(t.texts.bytes(k.name)) == string(name)
	})
	if ok {
		return id
	}

	// Hardly any two keys have one linkage name, which is not looked for.
	id = uint32(len(t.keys))
	t.index.Add(hash, id)
	t.bytes += uint64(len(linkage)+len(name)) + uint64(t.texts.spans[scope].size)
	t.keys = append(t.keys, storedKey{t.texts.add(linkage), t.texts.number(nameHash, name), scope, traits})
	t.first = append(t.first, firstText{})
	return id
}

// full reports whether names are no longer kept.
func (t *Table) full() bool { return t.Most > 0 && t.bytes > t.Most }

// key returns the name with a number.
func (t *Table) key(id uint32) Key {
	t.mu.Lock()
	defer t.mu.Unlock()
	k := t.keys[id]
	return Key{
		Linkage: string(t.texts.bytes(k.linkage)), Name: string(t.texts.bytes(k.name)), Scope: string(t.texts.bytes(k.scope)),
		Traits: k.traits,
	}
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
	return t.keys[id].traits.Unread
}

// Texts yields the normalised texts that are acceptable for a name.
func (t *Table) Texts(id uint32, yield func(string) bool) { acceptable(t.key(id), yield) }

// Text returns a name as findings show it.
func (t *Table) Text(id uint32) string {
	k := t.key(id)
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

// Exact reports whether sym, not normalised, is the first acceptable text of a name. Such a text is
// accepted by Accept too, but takes less time, since nothing is normalised.
func (t *Table) Exact(id uint32, sym []byte) bool {
	hash := maphash.Bytes(t.texts.seed, sym) | 1
	t.mu.Lock()
	exact := t.first[id].exact
	t.mu.Unlock()
	if exact != 0 {
		return exact == hash
	}

	// A text that differs is normalised next: see Accept.
	text := t.firstText(id)
	first := firstText{exact: maphash.String(t.texts.seed, text) | 1}
	if first.exact != hash {
		first.normalised = maphash.String(t.texts.seed, Normalise(text)) | 1
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.first[id].exact = first.exact
	t.first[id].normalised = cmp.Or(t.first[id].normalised, first.normalised)
	return first.exact == hash
}

// Accept reports whether sym, normalised, is acceptable for a name.
func (t *Table) Accept(id uint32, sym string) bool {
	t.mu.Lock()
	hash := t.first[id].normalised
	t.mu.Unlock()

	// The most likely text is compared by its hash.
	if hash == 0 {
		hash = t.hashFirst(id)
	}
	if maphash.String(t.texts.seed, sym)|1 == hash {
		return true
	}

	// The other texts are computed anew each time.
	k, ok := t.key(id), false
	acceptable(k, func(s string) bool {
		ok = s == sym
		return !ok
	})
	return ok || k.acceptScoped(sym) || k.acceptWords(sym)
}

// Prepare computes what Judge needs of a name first, so that several goroutines share the work.
func (t *Table) Prepare(id uint32) {
	t.mu.Lock()
	known := t.first[id].exact != 0
	t.mu.Unlock()
	if !known {
		t.hashFirst(id)
	}
}

// hashFirst computes the hashes of the first acceptable text of a name. It returns that of the normalised text.
func (t *Table) hashFirst(id uint32) uint64 {
	text := t.firstText(id)
	first := firstText{maphash.String(t.texts.seed, text) | 1, maphash.String(t.texts.seed, Normalise(text)) | 1}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.first[id] = first
	return first.normalised
}

// firstText returns the first acceptable text of a name, not normalised.
func (t *Table) firstText(id uint32) (first string) {
	spellings(t.key(id), func(s string) bool {
		first = s
		return false
	})
	return first
}
