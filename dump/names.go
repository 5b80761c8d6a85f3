package dump

import (
	"cmp"
	"fmt"
	"slices"
	"sync/atomic"

	"symkit/dump/dwarfx"
	"symkit/emit"
	"symkit/internal/demangle"
	"symkit/internal/limits"
)

// nameUnits names the functions and the inlined calls in them, and gives up the
// debug information that only they need: the largest part of all memory.
func (d *dumper) nameUnits() error {
	d.dw.Ranges, d.dw.RngLists = nil, nil
	d.release(".debug_rnglists", ".debug_ranges")
	var groups []*nameGroup
	err := d.meanwhile(func() (err error) {
		if err = d.internNames(); err == nil {
			groups, err = d.groupNames()
		}
		return err
	})
	if err != nil {
		return err
	}
	d.early.end(d.info)
	err = d.resolveNames(groups)
	d.dw.Forget()
	d.info.release()
	d.release(".debug_info", ".debug_abbrev")
	return err
}

// release gives up sections that nothing refers to any more.
func (d *dumper) release(names ...string) {
	for _, name := range names {
		if s := d.img.DWARF().Section(name); s != nil {
			s.Release()
		}
	}
}

// internNames numbers the names of every unit's functions and calls, and marks
// those that are wanted: functions that did not last may have calls too.
func (d *dumper) internNames() error {
	err := d.each(len(d.units), func() func(int) error {
		var origins originNamer
		return func(i int) error {
			u := d.units[i]
			// A string outside of its section is no name.
			u.compDir, _ = u.lines.String(u.lines.CompDir)
			for _, k := range u.funcs {
				f := &d.funcs[k]
				f.name = d.names.intern(d.namingOf(f), uint64(k))
			}
			if u.namings = nil; u.origins == nil && len(u.funcs) > 0 {
				d.numberOrigins(u, i, &origins)
			}
			return nil
		}
	})
	if err != nil {
		return err
	}
	if d.tooMuchRead(0) {
		return d.namesExceeded()
	}
	d.names.wantNone()
	return d.each(len(d.units), func() func(int) error {
		return func(i int) error {
			d.wantNames(d.units[i])
			return nil
		}
	})
}

// wantNames marks the names of a unit's functions and of what is inlined there.
func (d *dumper) wantNames(u *unit) {
	wanted := make([]bool, len(u.origins))
	for _, k := range u.funcs {
		d.names.want(d.funcs[k].name)
		calls := u.Funcs[d.funcs[k].index].Inlines
		for i := calls.From; i < calls.To; i++ {
			wanted[u.calls[i].Origin] = true
		}
	}
	for i, id := range u.origins {
		if wanted[i] {
			d.names.want(id)
		}
	}
}

// afterFuncs is the order of the first name that is not a function's own.
const afterFuncs = 1 << 63

// numberOrigins numbers the names of what is inlined into a unit's functions.
func (d *dumper) numberOrigins(u *unit, number int, x *originNamer) {
	if x.known == nil {
		x.known = d.names.knownOrigins(u.Data())
	}
	u.origins = make([]uint32, len(u.refs))
	x.read = namesRead{d: d}
	for from := 0; from < len(u.refs); from += fetched {
		refs := u.refs[from:min(from+fetched, len(u.refs))]
		x.find(u.Unit, refs)
		for i, ref := range refs {
			u.origins[from+i] = x.intern(d, u.Unit, ref, uint32(number), uint32(from+i))
		}
		if x.read.over {
			break
		}
	}
	x.read.end()
	u.refs = nil
}

// nameEarly finds out all that .debug_info tells about the names of u, to which x is
// confined.
func (d *dumper) nameEarly(u *unit, number int, x *originNamer) {
	d.readUnitNamings(u, &x.namer)
	x.early, x.plain = true, x.plain[:0]
	d.numberOrigins(u, number, x)
	x.early = false
	list := make([]*naming, 0, len(x.plain))
	for i := range x.plain {
		list = append(list, &x.plain[i].naming)
	}
	for i := range u.namings {
		if n := &u.namings[i]; n.unit == u.Unit && d.wantsScope(n, x.demangler) {
			list = append(list, n)
		}
	}
	d.place(u, list, x)
	x.internPlain(d.names, u, uint32(number))
}

// place finds the scopes of names that are declared in u.
func (d *dumper) place(u *unit, list []*naming, x *originNamer) {
	if len(list) == 0 {
		return
	}
	slices.SortFunc(list, func(a, b *naming) int { return cmp.Compare(a.decl, b.decl) })
	refs := make([]dwarfx.Ref, len(list))
	for i, n := range list {
		refs[i] = n.decl
	}
	tops := dwarfx.Tops(u.Funcs)
	s := scoper{demangler: x.demangler, unit: u.Unit, tops: tops}
	if s.namer.Confine(u.Unit) != nil {
		return
	}
	most := limits.Names.Max(d.img.Size())
	// Damage that keeps a scope from being read was met by the scan.
	_ = u.Data().Parents(u.Unit, refs, tops, func(i int, parents []dwarfx.Ref) {
		if d.nameBytes.early.Load() > most { // there is an error if they are wanted
			return
		}
		n := list[i]
		s.language = n.language
		n.scope, n.placed = s.scope(u.Unit, parents, string(n.name)), true
		d.nameBytes.early.Add(uint64(len(n.scope)))
	})
	u.Data().ForgetParents(u.Unit)
}

// originNamer numbers the names of what is inlined.
type originNamer struct {
	namer     dwarfx.Namer
	demangler *demangle.Demangler
	known     *knownOrigins
	// plain are those that have no number yet, since their scopes are to be found
	// first: if early is set, before the unit's bytes are given up.
	early bool
	plain []plainOrigin
	read  namesRead
	// Of the origins at hand: what names them; where in .debug_str the linkage names
	// stand, or 0; what is known of these, see knownOrigins.
	found   [fetched]dwarfx.Found
	offs    [fetched]uint32
	learned [fetched]uint64
}

// find finds what names refs, without reading what is far away.
func (x *originNamer) find(u *dwarfx.Unit, refs []dwarfx.Ref) {
	x.namer.FindAll(u, refs, x.found[:])
	for i := range refs {
		off := uint32(0)
		if f := &x.found[i]; f.Err() == nil {
			off = f.LinkageAt(x.known.data)
		}
		x.offs[i], x.learned[i] = off, x.known.at(off)
	}
}

// plainOrigin names one of the origins of a unit.
type plainOrigin struct {
	naming
	index uint32
	off   uint32 // of the linkage name, if that can be known; or 0
}

// originOrder is the order, for nameTable.intern, of the name of origin i of a unit.
func originOrder(unit, i uint32) uint64 { return afterFuncs | uint64(unit)<<32 | uint64(i) }

// intern numbers the name of ref, which was found and is number i among those of a unit.
func (x *originNamer) intern(d *dumper, u *dwarfx.Unit, ref dwarfx.Ref, unit, i uint32) uint32 {
	f, off := &x.found[i%fetched], x.offs[i%fetched]
	if id, ok := x.known.find(x.learned[i%fetched], off, unit); ok {
		return id
	}
	if x.read.over {
		return 0
	}
	n := complete(u, dwarfx.Naming{Decl: ref, Unit: u}, f.Naming(), f.Err())
	x.read.tooMuch(&n)
	if !n.linkage {
		off = 0
	}
	if x.early && d.wantsScope(&n, x.demangler) {
		x.plain = append(x.plain, plainOrigin{n, i, off})
		return 0
	}
	id := d.names.intern(&n, originOrder(unit, i))
	x.known.learn(off, id, unit)
	return id
}

// internPlain numbers those in plain.
func (x *originNamer) internPlain(names *nameTable, u *unit, unit uint32) {
	for i := range x.plain {
		p := &x.plain[i]
		id := names.intern(&p.naming, originOrder(unit, p.index))
		u.origins[p.index] = id
		x.known.learn(p.off, id, unit)
	}
}

// nameGroup are the names whose scopes are in one unit.
type nameGroup struct {
	unit  *dwarfx.Unit
	names []declared
	plain atomic.Bool // a scope is not in its name's text yet
}

// declared is the number of a name, and where its declaration is.
type declared struct {
	decl dwarfx.Ref
	id   uint32
}

// groupNames returns all names by unit, in the order of their declarations: those
// of one class follow each other then, and the demangler does not read anew what
// begins like the last.
func (d *dumper) groupNames() ([]*nameGroup, error) {
	parts := make([]map[*dwarfx.Unit][]declared, min(d.opt.Jobs, nameShards))
	err := d.each(len(parts), func() func(int) error {
		return func(i int) error {
			parts[i] = d.names.byUnit(i*nameShards/len(parts), (i+1)*nameShards/len(parts))
			return nil
		}
	})
	if err != nil {
		return nil, err
	}
	groups := merged(parts)
	return groups, d.each(len(groups), func() func(int) error {
		return func(i int) error {
			slices.SortFunc(groups[i].names, func(a, b declared) int { return cmp.Compare(a.decl, b.decl) })
			return nil
		}
	})
}

// merged makes one list of groups, in the order of their units.
func merged(parts []map[*dwarfx.Unit][]declared) (groups []*nameGroup) {
	byUnit := map[*dwarfx.Unit]*nameGroup{}
	for _, part := range parts {
		for u, names := range part {
			g := byUnit[u]
			if g == nil {
				g = &nameGroup{unit: u}
				byUnit[u] = g
				groups = append(groups, g)
			}
			g.names = append(g.names, names...)
		}
	}
	slices.SortFunc(groups, func(a, b *nameGroup) int { return cmp.Compare(a.unit.Off, b.unit.Off) })
	return groups
}

// nameBytes counts the bytes of the texts of names, and, of those that may get a text,
// of the scopes, and of texts that are known before they are wanted; and what is read to find
// out which names are the same.
type nameBytes struct{ texts, early, known, read atomic.Uint64 }

// tooMuch counts bytes of texts and tells whether all are too many.
func (d *dumper) tooMuch(text int) bool {
	return d.nameBytes.texts.Add(uint64(text)) > limits.Names.Max(d.img.Size())
}

// wantsScope is naming.wantsScope; it keeps the text that is known then while those
// are not many.
func (d *dumper) wantsScope(n *naming, demangler *demangle.Demangler) bool {
	wants := n.wantsScope(demangler)
	if n.text != "" && d.tooMuchKnown(n.text) {
		n.text = ""
	}
	return wants
}

// tooMuchKnown counts the bytes of a text that is known before it is wanted, and tells
// whether all are too many.
func (d *dumper) tooMuchKnown(text string) bool {
	const part = 8 // of the texts of all names
	return d.nameBytes.known.Add(uint64(len(text))) > limits.Names.Max(d.img.Size())/part
}

// tooMuchRead counts bytes of names that are read, and tells whether all are too many: the
// names of many functions can be ends of one long string.
func (d *dumper) tooMuchRead(names int) bool {
	const times = 4 // what may be written
	return d.nameBytes.read.Add(uint64(names))/times > limits.Names.Max(d.img.Size())
}

// namesRead counts what one goroutine reads.
type namesRead struct {
	d    *dumper
	size int  // that is not counted yet
	over bool // it was too much
}

// tooMuch counts a name that was read, and tells whether all are too many.
func (x *namesRead) tooMuch(n *naming) bool {
	if x.size += len(n.key) + len(n.name); x.size >= 1<<20 {
		x.end()
	}
	return x.over
}

// end counts the rest.
func (x *namesRead) end() { x.over, x.size = x.d.tooMuchRead(x.size), 0 }

// namesExceeded is the error then.
func (d *dumper) namesExceeded() error {
	return fmt.Errorf("%s: %w", d.img.Main.Path(), limits.Names.Exceeded(d.img.Size()))
}

// resolveNames makes the texts of names that are not there yet, lists the functions that no
// DIE describes, and reads .debug_line, if that has not come earlier: when a quarter is done
// there is room for it, and it still takes less time than the rest.
func (d *dumper) resolveNames(groups []*nameGroup) error {
	const most = 256 // names at once
	type chunk struct {
		group *nameGroup
		names []declared
	}
	var chunks []chunk
	for _, g := range groups {
		for names := range slices.Chunk(g.names, most) {
			chunks = append(chunks, chunk{g, names})
		}
	}
	more := d.info.rooms()
	quarter := 1 + len(chunks)/4
	err := d.each(len(chunks)+2, func() func(int) error {
		room := textRoom{more: more}
		demangler := demangle.Demangler{Keep: room.keep}
		return func(i int) error {
			switch {
			case i == 0:
				d.listBare()
				return nil
			case i == quarter:
				d.readLineSection()
				return nil
			case i > quarter:
				i--
			}
			return d.resolve(chunks[i-1].group, chunks[i-1].names, &demangler)
		}
	})
	d.dw.Line = d.line.data
	if d.loss(d.line.err); err != nil {
		return err
	}
	return d.qualify(groups)
}

// readLineSection inflates .debug_line, once.
func (d *dumper) readLineSection() {
	if !d.line.read {
		d.line.data, d.line.err = d.img.DWARF().SectionData(".debug_line")
		d.line.read = true
	}
}

// resolve makes the texts of names, but for the scopes that are not known yet.
func (d *dumper) resolve(g *nameGroup, names []declared, demangler *demangle.Demangler) error {
	size, plain := 0, false
	for i, n := range names {
		if i%fetched == 0 {
			d.names.fetch(names[i:min(i+fetched, len(names))])
		}
		e, ascii := d.names.at(n.id), false
		if e.text == "" {
			e.text, e.plain = e.readable(demangler)
			ascii = e.linkage && demangler.ASCII()
		}
		if e.plain && e.placed {
			e.text, e.plain, ascii = e.scope+e.text, false, false
		}
		// Now that it is in the cache.
		e.sound = e.sound || !e.plain && (ascii && emit.IsPlainOriginName(e.text) || !ascii && emit.IsOriginName(e.text))
		plain = plain || e.plain
		size += len(e.text)
		if size < 1<<20 {
			continue
		}
		if d.tooMuch(size) {
			return d.namesExceeded()
		}
		size = 0
	}
	if plain {
		g.plain.Store(true)
	}
	if d.tooMuch(size) {
		return d.namesExceeded()
	}
	return nil
}

// qualify puts the scopes in front of the names of groups that lack them. Where a
// scope was not asked for as long as the unit was there, .debug_info is made anew.
func (d *dumper) qualify(groups []*nameGroup) error {
	gone := false
	plain := groups[:0]
	for _, g := range groups {
		if g.plain.Load() {
			g.names = slices.DeleteFunc(g.names, func(n declared) bool { return !d.names.at(n.id).plain })
			plain = append(plain, g)
			gone = gone || g.unit.Dropped()
		}
	}
	if gone {
		info, err := d.img.DWARF().SectionData(".debug_info")
		if err != nil {
			return err // it was read before
		}
		d.dw.Restore(info)
	}
	funcs := map[*dwarfx.Unit][]dwarfx.Func{}
	for _, u := range d.units {
		funcs[u.Unit] = u.Funcs
	}
	return d.each(len(plain), func() func(int) error {
		var demangler demangle.Demangler
		return func(i int) error {
			return d.qualifyGroup(plain[i], dwarfx.Tops(funcs[plain[i].unit]), &demangler)
		}
	})
}

// qualifyGroup puts the scopes in front of the names of a group; see scoper of tops.
func (d *dumper) qualifyGroup(g *nameGroup, tops []dwarfx.Ref, demangler *demangle.Demangler) error {
	refs := make([]dwarfx.Ref, len(g.names))
	for i, n := range g.names {
		refs[i] = n.decl
	}
	full := false
	x := scoper{demangler: demangler, unit: g.unit, tops: tops}
	// Damage that keeps a scope from being read was met by the scan.
	_ = g.unit.Data().Parents(g.unit, refs, tops, func(i int, parents []dwarfx.Ref) {
		e := d.names.at(g.names[i].id)
		x.language = e.language
		scope := x.scope(g.unit, parents, e.text)
		if full = d.tooMuch(len(scope)); !full {
			e.text = scope + e.text
		}
	})
	if full {
		return d.namesExceeded()
	}
	return nil
}
