package dump

import (
	"cmp"
	"maps"
	"slices"

	"symkit/emit"
)

// fillFuncs writes what is known of the functions into the module.
func (d *dumper) fillFuncs() error {
	for i := range d.funcs {
		f, out := &d.funcs[i], &d.m.Funcs[i]
		out.Addr, out.Size, out.Multiple = f.lo-d.bias, f.hi-f.lo, f.multiple
		out.Name = d.names.at(f.name).text
		if out.Name == omitted {
			d.m.Stats.Unnamed++
		}
	}
	return nil
}

// finish brings files and origins into name order and counts the records.
func (d *dumper) finish() error {
	m := d.m
	var files, origins []uint32
	m.Files, files = d.files.sorted()
	for _, name := range slices.Sorted(maps.Keys(d.files.errs)) {
		d.warn("%s: %v", name, d.files.errs[name])
	}
	m.Origins, origins = d.sortedOrigins()
	for i := range m.Funcs {
		m.Stats.Lines += len(m.Funcs[i].Lines)
		m.Stats.Inlines += len(m.Funcs[i].Inlines)
	}
	for _, u := range d.units {
		m.Stats.Overlapping += u.overlap
	}
	m.Stats.Funcs, m.Stats.Publics = len(m.Funcs), len(m.Publics)
	chunks := slices.Collect(m.chunks())
	return d.each(len(chunks), func() func(int) error {
		return func(i int) error {
			for k := range chunks[i] {
				chunks[i][k].renumber(files, origins)
			}
			return nil
		}
	})
}

// renumber replaces the numbers of files and origins by their places.
func (f *Func) renumber(files, origins []uint32) {
	for i := range f.Lines {
		f.Lines[i].File = files[f.Lines[i].File]
	}
	for i := range f.Inlines {
		in := &f.Inlines[i]
		in.CallFile, in.Origin = files[in.CallFile], origins[in.Origin]
	}
}

// sortedOrigins returns the names of inlined functions in order, each once, and
// for each name's number its place there.
func (d *dumper) sortedOrigins() (names []string, place []uint32) {
	used := make([]bool, d.names.limit())
	for i := range d.m.Funcs {
		for _, in := range d.m.Funcs[i].Inlines {
			used[in.Origin] = true
		}
	}
	var ids []uint32
	for id, used := range used {
		if used {
			e := d.names.at(uint32(id))
			e.text = emit.OriginName(e.text)
			ids = append(ids, uint32(id))
		}
	}
	slices.SortFunc(ids, func(a, b uint32) int { return cmp.Compare(d.names.at(a).text, d.names.at(b).text) })
	place = make([]uint32, len(used))
	for _, id := range ids {
		text := d.names.at(id).text
		if last := len(names) - 1; last < 0 || names[last] != text {
			names = append(names, text)
		}
		place[id] = uint32(len(names) - 1)
	}
	return names, place
}
