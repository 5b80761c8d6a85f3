package naming

import (
	"cmp"
	"slices"

	"symkit/emit"
	"symkit/internal/demangle"
	"symkit/internal/dwarfx"
)

// Namer numbers the names of units and makes their texts, for one goroutine.
type Namer struct {
	table     *Table
	demangler demangle.Demangler
	dies      dwarfx.Namer
	read      int    // bytes of names that table.read lacks
	compared  uint64 // bytes that IsSymbolOf has read and made

	cache nameCache
	// For each origin of the current batch: the DIE that names it, the offset of its
	// name in .debug_str or 0, and the cache's entry for the offset.
	found  [batch]dwarfx.Found
	offs   [batch]uint32
	cached [batch]cachedName

	// plain are the names of the current unit that need the scope of their
	// declaration.
	plain []plainName
}

// plainName is a name whose text begins with its scope.
type plainName struct {
	number uint32
	order  uint64
	key    Key
}

// batch is how many origins are found together.
const batch = 32

// NewNamer returns a Namer for the names of t.
func NewNamer(t *Table) *Namer { return &Namer{table: t} }

// originOrder is added to the order of names of inlined calls: a function's own
// DIE comes before all of them.
const originOrder = 1 << 63

// Unit numbers the names of funcs and of origins, the abstract origins of inlined
// calls, in u, which is number index of the module's units. The slices that Unit
// returns are parallel to funcs and origins. The error is that of the limit if they do not fit: then
// the unit has no names; or losses.ErrInTurn.
func (x *Namer) Unit(u *dwarfx.Unit, index int, funcs []dwarfx.Func, origins []dwarfx.Ref) (ofFuncs, ofOrigins []uint32, err error) {
	x.table.begin()
	ofFuncs, ofOrigins = x.unit(u, index, funcs, origins)
	x.countRead()
	err = x.table.end()
	if err != nil {
		x.cache = nameCache{} // it has numbers without a text
		return nil, nil, err
	}
	return ofFuncs, ofOrigins, nil
}

// unit is Unit without the limit: if the table is full, the rest is left out.
func (x *Namer) unit(u *dwarfx.Unit, index int, funcs []dwarfx.Func, origins []dwarfx.Ref) (ofFuncs, ofOrigins []uint32) {
	order := uint64(index) << 32
	ofFuncs, ofOrigins = make([]uint32, len(funcs)), make([]uint32, len(origins))
	x.plain = x.plain[:0]
	for i := range funcs {
		k := x.funcKey(u, &funcs[i])
		ofFuncs[i] = x.number(&k, order|uint64(i))
		if x.isFull() {
			return ofFuncs, ofOrigins
		}
	}

	for from := 0; from < len(origins); from += batch {
		refs := origins[from:min(from+batch, len(origins))]
		x.findBatch(u, refs)
		for i, ref := range refs {
			ofOrigins[from+i] = x.origin(u, index, ref, i, originOrder|order|uint64(from+i))
		}
		if x.isFull() {
			return ofFuncs, ofOrigins
		}
	}
	x.addScopes(u, dwarfx.Tops(funcs))
	return ofFuncs, ofOrigins
}

// findBatch finds the names of the DIEs at refs, no more than batch, and looks the names
// up in the cache. The processor waits for the memory of all DIEs together, not for one
// after the other: for ceph-osd, this saves 3 % of the CPU time.
func (x *Namer) findBatch(u *dwarfx.Unit, refs []dwarfx.Ref) {
	x.dies.FindAll(u, refs, x.found[:])
	x.cache.start(u.Data())
	unscoped := u.Language.Separator() == "" // as in C: equal plain names have one number
	for i := range refs {
		x.offs[i] = 0
		if x.found[i].Err() == nil {
			x.offs[i] = x.found[i].NameAt(u.Data(), unscoped)
		}
		x.cached[i] = *x.cache.slot(x.offs[i])
	}
}

// origin numbers the name of the DIE at ref, which inlined calls of u are of and
// which is number i of the batch.
func (x *Namer) origin(u *dwarfx.Unit, index int, ref dwarfx.Ref, i int, order uint64) uint32 {
	off := x.offs[i]
	if x.cached[i].is(off, index) {
		return x.cached[i].number
	}

	// The lowest order decides whose key is kept, so the number alone is cached.
	f := &x.found[i]
	names := f.Naming()
	k := newKey(u, dwarfx.Naming{Decl: ref, Unit: u}, names, f.Err())
	number := x.number(&k, order)

	// Functions that share an assembler label have different names.
	if !f.HasLinkage() || demangle.IsMangled(names.Linkage) {
		x.cache.add(off, index, number)
	}
	return number
}

// Confine makes u the only unit that x reads. u is self-contained, and x can
// read its DIEs while other units are being added to its Data.
func (x *Namer) Confine(u *dwarfx.Unit) error { return x.dies.Confine(u) }

// Symbol numbers the name of a function that only a symbol names. A plain name gets no
// scope, whose DIEs are no longer in memory.
func (x *Namer) Symbol(k *Key, order uint64) uint32 {
	x.plain = x.plain[:0]
	number := x.number(k, order)
	for _, p := range x.plain {
		x.set(p.number, p.order, string(p.key.Plain), false)
	}
	x.countRead()
	return number
}

// funcKey returns the key of a function of u.
func (x *Namer) funcKey(u *dwarfx.Unit, f *dwarfx.Func) Key {
	// A string outside of its section is no name.
	own := dwarfx.Naming{Decl: f.DIE, Unit: u}
	own.Linkage, _ = u.String(f.Linkage)
	own.Name, _ = u.String(f.Name)
	own.Lost = u.Data().Lost(f.Linkage) || u.Data().Lost(f.Name)

	// GCC writes the label into a copy of a function with an assembler label, and the
	// name only into the origin.
	var origin dwarfx.Naming
	var err error
	follow := own.Linkage == nil || own.Name == nil && demangle.IsLabel(uint16(u.Language), own.Linkage)
	if f.Origin != 0 && follow {
		origin, err = x.dies.NameOf(u.Data(), f.Origin)
	}
	return newKey(u, own, origin, err)
}

// number numbers k, and makes its text or, if the text needs a scope, adds k to plain.
func (x *Namer) number(k *Key, order uint64) uint32 {
	x.read += len(k.ID()) + len(k.Plain)
	number, mine := x.table.number(k, order)
	if !mine {
		return number
	}

	if x.table.Linkage && len(k.Linkage) > 0 {
		x.set(number, order, string(k.Linkage), false)
		return number
	}
	text, ascii, plain := readable(k, &x.demangler)
	if plain {
		x.plain = append(x.plain, plainName{number, order, *k})
		return number
	}
	x.set(number, order, text, ascii)
	return number
}

// set sets the text of a number. ascii is set if the text is known to be printable
// ASCII.
func (x *Namer) set(number uint32, order uint64, text string, ascii bool) {
	sound := ascii && emit.IsPlainOriginName(text) || !ascii && emit.IsOriginName(text)
	x.table.texts.Add(uint64(len(text)))
	x.table.setText(number, order, text, sound)
}

// readable returns the text of k. plain is set if the text needs k's scope in front;
// ascii is set if the text is known to be printable ASCII.
//
// A linkage name that is not mangled is written only if there is no plain name, or if the linkage
// name is the plain name with its scope in front, as Zig's: debug.Dwarf.scanAllUnits, or if it is
// Haskell's. A name of Swift that cannot be read is written as it is: a thunk has the plain name of
// what it calls.
func readable(k *Key, demangler *demangle.Demangler) (text string, ascii, plain bool) {
	if len(k.Linkage) > 0 {
		text, ok := demangler.ForLanguage(uint16(k.Language), k.Linkage)
		if ok {
			return text, demangler.ASCII(), false
		}
	}
	switch {
	case k.isQualified(), k.Language.IsHaskell() && len(k.Linkage) > 0, demangle.IsSwift(k.Linkage):
		return string(k.Linkage), false, false
	case len(k.Plain) > 0:
		return string(k.Plain), false, k.needsScope()
	case len(k.Linkage) > 0:
		return string(k.Linkage), false, false
	}
	return Omitted, false, false
}

// SymbolText returns the text of a symbol's name.
func (t *Table) SymbolText(symbol []byte, demangler *demangle.Demangler) string {
	if t.Linkage {
		return string(symbol)
	}
	text, _, _ := readable(&Key{Linkage: symbol}, demangler)
	return text
}

// addScopes makes the texts of x.plain, the plain names that u uses. tops are the
// functions of u that are children of its root.
func (x *Namer) addScopes(u *dwarfx.Unit, tops []dwarfx.Ref) {
	if len(x.plain) == 0 {
		return
	}
	slices.SortStableFunc(x.plain, func(a, b plainName) int { return cmp.Compare(a.key.Decl, b.key.Decl) })
	s := scoper{demangler: &x.demangler, unit: u, tops: tops, dies: &x.dies, read: &x.read}

	// One walk over u finds the parents of all declarations in u.
	var own []plainName
	var refs []dwarfx.Ref
	for _, p := range x.plain {
		if x.isFull() {
			return
		}
		if p.key.Unit == u {
			own, refs = append(own, p), append(refs, p.key.Decl)
		} else {
			parents, _ := p.key.Unit.Data().ParentsOf(p.key.Unit, p.key.Decl, nil)
			x.addScope(&s, &p, p.key.Unit, parents)
		}
	}

	// Damage that keeps a scope from being read was met by the scan.
	_ = u.Data().Parents(u, refs, tops, func(i int, parents []dwarfx.Ref) {
		if !x.isFull() {
			x.addScope(&s, &own[i], u, parents)
			own[i].number = done
		}
	})

	for i := range own {
		if own[i].number != done {
			x.addScope(&s, &own[i], u, nil)
		}
	}
	u.Data().ForgetParents(u)
}

// done marks a plainName that has its text.
const done = ^uint32(0)

// addScope makes the text of a name declared in u by a DIE with parents.
func (x *Namer) addScope(s *scoper, p *plainName, u *dwarfx.Unit, parents []dwarfx.Ref) {
	s.language = p.key.Language
	scope := s.scope(u, parents, string(p.key.Plain))
	x.set(p.number, p.order, scope+string(p.key.Plain), false)
}

// isFull reports whether the names are too many or too long.
func (x *Namer) isFull() bool {
	// The count is shared by all goroutines, so it is seldom written.
	if x.read >= 1<<20 {
		x.countRead()
	}
	return x.table.isFull()
}

// countRead adds the bytes that x has read to the table's count.
func (x *Namer) countRead() {
	x.table.read.Add(uint64(x.read))
	x.read = 0
}
