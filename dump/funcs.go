package dump

import (
	"bytes"
	"cmp"
	"slices"

	"symkit/dump/dwarfx"
	"symkit/internal/demangle"
)

// fn is a FUNC record to be: one range of a function.
type fn struct {
	lo, hi   uint64 // virtual addresses
	unit     uint32 // index of the unit that describes it
	index    uint32 // in the unit's Funcs and namings
	name     uint32 // its number in dumper.names
	multiple bool
}

// mergeFuncs makes of all functions of all units a list by address, without
// overlaps, one function for each address.
func (d *dumper) mergeFuncs() error {
	count := 0
	for _, u := range d.units {
		for i := range u.Funcs {
			r := u.Funcs[i].Ranges
			count += int(r.To - r.From)
		}
	}
	all := make([]fn, 0, count)
	var ranges []dwarfx.Range
	for ui := range d.units {
		u := d.units[ui]
		for fi := range u.Funcs {
			r := u.Funcs[fi].Ranges
			ranges = u.ranges.append(ranges[:0], r)
			for _, r := range ranges {
				if _, ok := d.relative(r.Lo); !ok {
					d.m.Stats.BelowLoad++
					continue
				}
				all = append(all, fn{lo: r.Lo, hi: r.Hi, unit: uint32(ui), index: uint32(fi)})
			}
		}
	}
	if err := d.readNamings(); err != nil {
		return err
	}
	all, err := d.sortFuncs(all)
	if err != nil {
		return err
	}
	d.funcs = all[:0]
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n].lo == all[0].lo {
			n++
		}
		best := d.best(all[:n])
		all = all[n:]
		d.m.Stats.Folded += n - 1
		if last := len(d.funcs) - 1; last >= 0 && d.funcs[last].hi > best.lo {
			d.funcs[last].hi = best.lo
			d.m.Stats.Clipped++
		}
		d.funcs = append(d.funcs, best)
	}
	d.listFuncs()
	return nil
}

// sortFuncs sorts by address; at one address, by unit and place in the unit.
func (d *dumper) sortFuncs(all []fn) ([]fn, error) {
	byPlace := func(a, b fn) int {
		if a.lo != b.lo {
			return cmp.Compare(a.lo, b.lo)
		}
		return cmp.Or(cmp.Compare(a.unit, b.unit), cmp.Compare(a.index, b.index), cmp.Compare(a.hi, b.hi))
	}
	parts := slices.Collect(slices.Chunk(all, len(all)/d.opt.Jobs+1))
	err := d.each(len(parts), func() func(int) error {
		return func(i int) error {
			slices.SortFunc(parts[i], byPlace)
			return nil
		}
	})
	return mergeAll(parts, byPlace), err
}

// listFuncs tells every unit its functions.
func (d *dumper) listFuncs() {
	for _, u := range d.units {
		u.funcs = u.funcs[:0]
	}
	for i := range d.funcs {
		u := d.units[d.funcs[i].unit]
		u.funcs = append(u.funcs, uint32(i))
	}
}

// best chooses among the functions at one address: the name that the symbol
// table ranks first, then the largest, then by name, then the first. The
// largest size is kept.
func (d *dumper) best(same []fn) fn {
	best := same[0]
	if len(same) == 1 {
		return best
	}
	rank := d.syms.at(best.lo).ranks()
	size, multiple := best.hi, false
	for _, f := range same[1:] {
		size = max(size, f.hi)
		a, b := d.declared(&f).key, d.declared(&best).key
		if bytes.Equal(a, b) {
			continue
		}
		multiple = d.opt.Multiple
		order := cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(best.hi, f.hi), bytes.Compare(a, b))
		if order < 0 {
			best = f
		}
	}
	best.hi, best.multiple = size, multiple
	return best
}

// declared is what names f in the debug information.
func (d *dumper) declared(f *fn) *naming { return &d.units[f.unit].namings[f.index] }

// readNamings finds out what names every function, as far as it is not known yet.
func (d *dumper) readNamings() error {
	return d.each(len(d.units), func() func(int) error {
		var namer dwarfx.Namer
		return func(i int) error {
			if d.units[i].namings == nil {
				d.readUnitNamings(d.units[i], &namer)
			}
			return nil
		}
	})
}

// readUnitNamings finds out what names the functions of a unit. With too much to read it ends.
func (d *dumper) readUnitNamings(u *unit, namer *dwarfx.Namer) {
	u.namings = make([]naming, len(u.Funcs))
	read := namesRead{d: d}
	defer read.end()
	for i := range u.Funcs {
		f := &u.Funcs[i]
		// A string outside of its section is no name.
		own := dwarfx.Naming{Decl: f.DIE, Unit: u.Unit}
		own.Linkage, _ = u.Unit.String(f.Linkage)
		own.Name, _ = u.Unit.String(f.Name)
		own.Lost = u.Data().Lost(f.Linkage) || u.Data().Lost(f.Name)
		var more dwarfx.Naming
		var err error
		// GCC gives a copy with an assembler label the label, and leaves the name to the origin.
		follow := own.Linkage == nil || own.Name == nil && demangle.IsLabel(uint16(u.Language), own.Linkage)
		if f.Origin != 0 && follow {
			more, err = namer.NameOf(u.Data(), f.Origin)
		}
		n := &u.namings[i]
		if *n = complete(u.Unit, own, more, err); read.tooMuch(n) {
			return
		}
	}
}
