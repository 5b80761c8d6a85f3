package dump

import (
	"maps"
	"slices"

	"symkit/dump/dwarfx"
)

// nameFuncs names the functions and the inlined calls.
func (d *dumper) nameFuncs() error {
	ids := make([]uint32, len(d.funcs))
	for i := range d.funcs {
		ids[i] = d.names.id(&d.namings[d.funcs[i].naming])
	}
	if err := d.nameOrigins(); err != nil {
		return err
	}
	if err := d.resolveNames(); err != nil {
		return err
	}
	for i := range d.funcs {
		f, out := &d.funcs[i], &d.m.Funcs[i]
		out.Addr, out.Size, out.Multiple = f.lo-d.bias, f.hi-f.lo, f.multiple
		out.Name = d.names.text[ids[i]]
		if out.Name == omitted {
			d.m.Stats.Unnamed++
		}
	}
	return nil
}

// nameOrigins replaces the origins of the inlined calls, so far an index of
// their unit's calls, by numbers of names.
func (d *dumper) nameOrigins() error {
	for ui := range d.units {
		u := d.units[ui]
		if len(u.Inlines) == 0 {
			continue
		}
		byRef := map[dwarfx.Ref]uint32{}
		for _, fi := range u.funcs {
			calls := d.m.Funcs[fi].Inlines
			for k := range calls {
				ref := u.Inlines[calls[k].Origin].Origin
				id, ok := byRef[ref]
				if !ok {
					n := complete(u.Unit, dwarfx.Naming{Decl: ref, Unit: u.Unit}, ref)
					id = d.names.id(&n)
					byRef[ref] = id
				}
				calls[k].Origin = id
			}
		}
	}
	return nil
}

// finish brings files and origins into name order and counts the records.
func (d *dumper) finish() {
	m := d.m
	var place []uint32
	m.Files, place = d.files.sorted()
	for _, name := range slices.Sorted(maps.Keys(d.files.errs)) {
		d.warn("%s: %v", name, d.files.errs[name])
	}
	var origins fileTable
	for i := range m.Funcs {
		f := &m.Funcs[i]
		m.Stats.Lines += len(f.Lines)
		m.Stats.Inlines += len(f.Inlines)
		for k := range f.Lines {
			f.Lines[k].File = place[f.Lines[k].File]
		}
		for k := range f.Inlines {
			in := &f.Inlines[k]
			in.CallFile = place[in.CallFile]
			in.Origin = origins.id([]byte(d.names.text[in.Origin]))
		}
	}
	m.Origins, place = origins.sorted()
	for i := range m.Funcs {
		for k := range m.Funcs[i].Inlines {
			m.Funcs[i].Inlines[k].Origin = place[m.Funcs[i].Inlines[k].Origin]
		}
	}
	m.Stats.Funcs, m.Stats.Publics = len(m.Funcs), len(m.Publics)
}
