package dump

import (
	"cmp"
	"fmt"
	"slices"
	"sync/atomic"

	"symkit/dump/dwarfx"
	"symkit/dump/names"
	"symkit/internal/limits"
)

// nameUnits names the functions and the inlined calls in them, and gives up the
// debug information that only they need: the largest part of all memory.
func (d *dumper) nameUnits() error {
	d.dw.Ranges, d.dw.RngLists = nil, nil
	d.release(".debug_rnglists", ".debug_ranges")
	if err := d.internNames(); err != nil {
		return err
	}
	err := d.resolveNames()
	d.dw.Forget()
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
			u.compDir, _ = u.lines.Data().String(u.lines.CompDir)
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
			wanted[u.calls[i].origin] = true
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

// fetched is how many names' memory is waited for at the same time.
const fetched = 32

// numberOrigins numbers the names of what is inlined into a unit's functions.
func (d *dumper) numberOrigins(u *unit, number int, x *originNamer) {
	u.origins = make([]uint32, len(u.refs))
	for i, ref := range u.refs {
		if i%fetched == 0 {
			x.namer.Fetch(u.Data(), u.refs[i:min(i+fetched, len(u.refs))])
		}
		u.origins[i] = x.intern(d.names, u.Unit, ref, uint32(number), uint32(i))
	}
	u.refs = nil
}

// originNamer numbers the names of what is inlined. It remembers where in
// .debug_str the linkage names stand that it has numbered: to see one again
// costs neither reading it nor the table, which would learn nothing from a name
// of a later unit.
type originNamer struct {
	namer dwarfx.Namer
	data  *dwarfx.Data  // that known is of: of the first unit
	known []knownOrigin // by slot
}

// knownBits is how many bits a slot of originNamer.known has.
const knownBits = 15

// knownOrigin is the number of the linkage name at an offset of .debug_str, not 0,
// met in a unit.
type knownOrigin struct{ off, id, unit uint32 }

// intern numbers the name of ref, which is number i among those of a unit.
func (x *originNamer) intern(names *nameTable, u *dwarfx.Unit, ref dwarfx.Ref, unit, i uint32) uint32 {
	if x.data == nil {
		x.data, x.known = u.Data(), make([]knownOrigin, 1<<knownBits)
	}
	found, err := x.namer.Find(u.Data(), ref)
	off, ok := found.LinkageAt(x.data)
	slot := &x.known[off*0x9e3779b1>>(32-knownBits)]
	if ok = ok && err == nil && off != 0; ok && slot.off == off && slot.unit <= unit {
		return slot.id
	}
	n := complete(u, dwarfx.Naming{Decl: ref, Unit: u}, found.Naming(), err)
	id := names.intern(&n, afterFuncs|uint64(unit)<<32|uint64(i))
	if ok && n.linkage {
		*slot = knownOrigin{off, id, unit}
	}
	return id
}

// nameGroup are the names whose scopes are in one unit.
type nameGroup struct {
	unit  *dwarfx.Unit
	funcs []dwarfx.Func // of unit, if the scan read them
	names []declared
	left  atomic.Int32 // of its names: those without a text
}

// declared is the number of a name, and where its declaration is.
type declared struct {
	decl dwarfx.Ref
	id   uint32
}

// groupNames returns all names by unit, in the order of their declarations: those
// of one class follow each other then, and the demangler does not read anew what
// begins like the last. Units come in the order in which they are given up.
func (d *dumper) groupNames() ([]*nameGroup, error) {
	groups := d.names.byUnit()
	slices.SortFunc(groups, func(a, b *nameGroup) int { return cmp.Compare(a.unit.Off, b.unit.Off) })
	return groups, d.each(len(groups), func() func(int) error {
		return func(i int) error {
			slices.SortFunc(groups[i].names, func(a, b declared) int { return cmp.Compare(a.decl, b.decl) })
			return nil
		}
	})
}

// resolveNames makes the text of all names, and reads .debug_line, which the
// next stage wants: when a quarter is done there is room for it, and it still takes
// less time than the rest.
func (d *dumper) resolveNames() error {
	const most = 256 // names at once
	type chunk struct {
		group *nameGroup
		names []declared
	}
	var chunks []chunk
	groups, err := d.groupNames()
	if err != nil {
		return err
	}
	funcs := map[*dwarfx.Unit][]dwarfx.Func{}
	for _, u := range d.units {
		funcs[u.Unit] = u.Funcs
	}
	for _, g := range groups {
		g.funcs = funcs[g.unit]
		g.left.Store(int32(len(g.names)))
		for names := range slices.Chunk(g.names, most) {
			chunks = append(chunks, chunk{g, names})
		}
	}
	discards := d.newDiscards(groups)
	var lost error
	size := d.img.Size()
	var total atomic.Uint64 // bytes of all texts
	tooMuch := func(text int) bool { return total.Add(uint64(text)) > limits.Names.Max(size) }
	err = d.each(len(chunks)+1, func() func(int) error {
		var demangler names.Demangler
		return func(i int) error {
			quarter := len(chunks) / 4
			if i == quarter {
				d.dw.Line, lost = d.img.DWARF().SectionData(".debug_line")
				return nil
			}
			if i > quarter {
				i--
			}
			c := chunks[i]
			for _, n := range c.names {
				e := d.names.at(n.id)
				e.text, e.plain = e.naming.text(&demangler)
				if tooMuch(len(e.text)) {
					break
				}
			}
			if c.group.left.Add(-int32(len(c.names))) == 0 {
				d.qualify(c.group, &demangler, tooMuch)
				discards.done(c.group.unit)
			}
			if tooMuch(0) {
				return fmt.Errorf("%s: %w", d.img.Main.Path(), limits.Names.Exceeded(size))
			}
			return nil
		}
	})
	d.loss(lost)
	return err
}

// qualify puts the scopes in front of the names of a group that lack them, until
// tooMuch says that their bytes are.
func (d *dumper) qualify(g *nameGroup, demangler *names.Demangler, tooMuch func(text int) bool) {
	var todo []*named
	var refs []dwarfx.Ref
	for _, n := range g.names {
		if e := d.names.at(n.id); e.plain {
			todo, refs = append(todo, e), append(refs, n.decl)
		}
	}
	if len(todo) == 0 {
		return
	}
	// Damage that keeps a scope from being read was met by the scan.
	tops := dwarfx.Tops(g.funcs)
	x := scoper{demangler: demangler, unit: g.unit, tops: tops}
	_ = g.unit.Data().Parents(g.unit, refs, tops, func(i int, parents []dwarfx.Ref) {
		e := todo[i]
		x.language = e.language
		scope := x.scope(g.unit, parents, e.text)
		if !tooMuch(len(scope)) {
			e.text = scope + e.text
		}
	})
}
