package dump

import (
	"cmp"
	"maps"
	"slices"

	"symkit/dump/names"
	"symkit/emit"
)

// nameFuncs names the functions and the inlined calls.
func (d *dumper) nameFuncs() error {
	ids := make([]uint32, len(d.funcs))
	for i := range d.funcs {
		ids[i] = d.names.id(d.namingOf(&d.funcs[i]))
	}
	d.nameOrigins()
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

// namingOf is what names f: its DIE, or, where that has no name, as when the
// supplementary file with it is missing, the symbol there.
func (d *dumper) namingOf(f *fn) *naming {
	n := &d.namings[f.naming]
	if !n.lost && (len(n.key) > 0 || len(n.name) > 0) {
		return n
	}
	aliases := d.syms.at(f.lo)
	if len(aliases) == 0 || aliases[0].rank >= label {
		return n
	}
	symbol := *n
	symbol.key, symbol.linkage = names.Base(aliases[0].name), true
	return &symbol
}

// nameOrigins replaces the origins of the inlined calls, so far numbered by
// unit, by numbers of names.
func (d *dumper) nameOrigins() {
	var ids []uint32
	for _, u := range d.units {
		if len(u.origins) == 0 {
			continue
		}
		ids = ids[:0]
		for i := range u.origins {
			ids = append(ids, d.names.id(&u.origins[i]))
		}
		u.origins = nil
		for _, fi := range u.funcs {
			calls := d.m.Funcs[fi].Inlines
			for k := range calls {
				calls[k].Origin = ids[calls[k].Origin]
			}
		}
	}
}

// finish brings files and origins into name order and counts the records.
func (d *dumper) finish() {
	m := d.m
	var files, origins []uint32
	m.Files, files = d.files.sorted()
	for _, name := range slices.Sorted(maps.Keys(d.files.errs)) {
		d.warn("%s: %v", name, d.files.errs[name])
	}
	m.Origins, origins = d.sortedOrigins()
	for i := range m.Funcs {
		f := &m.Funcs[i]
		m.Stats.Lines += len(f.Lines)
		m.Stats.Inlines += len(f.Inlines)
		for k := range f.Lines {
			f.Lines[k].File = files[f.Lines[k].File]
		}
		for k := range f.Inlines {
			in := &f.Inlines[k]
			in.CallFile, in.Origin = files[in.CallFile], origins[in.Origin]
		}
	}
	for _, u := range d.units {
		m.Stats.Overlapping += u.overlap
	}
	m.Stats.Funcs, m.Stats.Publics = len(m.Funcs), len(m.Publics)
}

// sortedOrigins returns the names of inlined functions in order, each once, and
// for each name's number its place there.
func (d *dumper) sortedOrigins() (names []string, place []uint32) {
	text := d.names.text
	used := make([]bool, len(text))
	for i := range d.m.Funcs {
		for _, in := range d.m.Funcs[i].Inlines {
			used[in.Origin] = true
		}
	}
	var ids []uint32
	for id, used := range used {
		if used {
			text[id] = emit.OriginName(text[id])
			ids = append(ids, uint32(id))
		}
	}
	slices.SortFunc(ids, func(a, b uint32) int { return cmp.Compare(text[a], text[b]) })
	place = make([]uint32, len(text))
	for _, id := range ids {
		if last := len(names) - 1; last < 0 || names[last] != text[id] {
			names = append(names, text[id])
		}
		place[id] = uint32(len(names) - 1)
	}
	return names, place
}
