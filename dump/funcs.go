package dump

import (
	"bytes"
	"cmp"
	"slices"

	"symkit/dump/dwarfx"
)

// fn is a FUNC record to be: one range of a function.
type fn struct {
	lo, hi   uint64 // virtual addresses
	unit     uint32 // index of the unit that describes it
	index    uint32 // in the unit's Funcs
	naming   uint32 // index of dumper.namings
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
	first := uint32(0) // naming of the unit's first function
	for ui := range d.units {
		u := d.units[ui]
		for fi := range u.Funcs {
			r := u.Funcs[fi].Ranges
			ranges = u.ranges.append(ranges[:0], r.From, r.To)
			for _, r := range ranges {
				if _, ok := d.relative(r.Lo); !ok {
					d.m.Stats.BelowLoad++
					continue
				}
				all = append(all, fn{lo: r.Lo, hi: r.Hi, unit: uint32(ui), index: uint32(fi), naming: first + uint32(fi)})
			}
		}
		first += uint32(len(u.Funcs))
	}
	if err := d.readNamings(int(first)); err != nil {
		return err
	}
	slices.SortStableFunc(all, func(a, b fn) int { return cmp.Compare(a.lo, b.lo) })
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
	aliases := d.syms.at(best.lo)
	size, multiple := best.hi, false
	for _, f := range same[1:] {
		size = max(size, f.hi)
		a, b := d.namings[f.naming].key, d.namings[best.naming].key
		if bytes.Equal(a, b) {
			continue
		}
		multiple = d.opt.Multiple
		order := cmp.Or(cmp.Compare(aliases.rank(a), aliases.rank(b)), cmp.Compare(best.hi, f.hi), bytes.Compare(a, b))
		if order < 0 {
			best = f
		}
	}
	best.hi, best.multiple = size, multiple
	return best
}

// readNamings finds out what names every function.
func (d *dumper) readNamings(n int) error {
	d.namings = make([]naming, n)
	first := make([]int, len(d.units))
	for i, at := 0, 0; i < len(d.units); i++ {
		first[i] = at
		at += len(d.units[i].Funcs)
	}
	return d.each(len(d.units), func() func(int) error {
		var namer dwarfx.Namer
		return func(i int) error {
			u := d.units[i]
			for fi := range u.Funcs {
				f := &u.Funcs[fi]
				// A string outside of its section is no name.
				own := dwarfx.Naming{Decl: f.DIE, Unit: u.Unit}
				own.Linkage, _ = u.Data().String(f.Linkage)
				own.Name, _ = u.Data().String(f.Name)
				own.Lost = u.Data().Lost(f.Linkage) || u.Data().Lost(f.Name)
				var more dwarfx.Naming
				var err error
				if f.Origin != 0 && own.Linkage == nil {
					more, err = namer.NameOf(u.Data(), f.Origin)
				}
				d.namings[first[i]+fi] = complete(u.Unit, own, more, err)
			}
			return nil
		}
	})
}
