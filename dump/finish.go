package dump

import (
	"fmt"
	"maps"
	"slices"

	"symkit/elfx"
	"symkit/emit"
	"symkit/internal/limits"
)

// fillFuncs writes what is known of the functions into the module.
func (d *dumper) fillFuncs() error {
	for i := range d.funcs {
		f, out := &d.funcs[i], &d.m.Funcs[i]
		out.Addr, out.Size, out.Multiple = f.lo-d.bias, f.hi-f.lo, f.multiple
		name := d.names.at(f.name)
		if out.Name, out.sound = name.text, name.sound; out.Name == omitted {
			d.m.Stats.Unnamed++
		}
	}
	return nil
}

// finish lists what no function covers, brings files and origins into name order and
// counts the records. Meanwhile it gives up what nobody reads any more.
func (d *dumper) finish() error {
	if d.files.full {
		return fmt.Errorf("%s: %w", d.img.Main.Path(), limits.Files.Exceeded(d.img.Size()))
	}
	m := d.m
	m.bias = d.bias
	err := d.together(
		func() (err error) {
			m.Origins, m.places.origins, err = d.sortedOrigins()
			return err
		},
		d.collectPublics,
		func() error {
			m.Files, m.places.files = d.files.sorted()
			return nil
		},
		d.releaseStrings,
	)
	if err != nil {
		return err
	}
	d.relocLosses()
	for _, name := range slices.Sorted(maps.Keys(d.files.errs)) {
		d.warn("%s: %v", name, d.files.errs[name])
	}
	for i := range m.Funcs {
		m.Stats.Lines += len(m.Funcs[i].lines)
		m.Stats.Inlines += len(m.Funcs[i].inlines)
	}
	for _, u := range d.units {
		m.Stats.Overlapping += u.overlap
	}
	m.Stats.Funcs, m.Stats.Publics = len(m.Funcs), len(m.Publics)
	return nil
}

// releaseStrings gives up the sections that names and lines were read from.
func (d *dumper) releaseStrings() error {
	d.dw.Str, d.dw.LineStr, d.dw.Line, d.line.data = nil, nil, nil, nil
	d.release(".debug_str", ".debug_line_str", ".debug_line")
	return nil
}

// sortedOrigins returns the wanted names, those of inlined functions, in order, each
// once, and for each name's number its place there.
func (d *dumper) sortedOrigins() (names []string, place []uint32, err error) {
	list := make([]numbered, 0, d.names.wantedCount())
	elfx.Populate(list[:cap(list)])
	for id := range d.names.limit() {
		if d.names.isWanted(id) {
			list = append(list, numbered{id: id})
		}
	}
	if list, err = d.textsOf(list); err == nil {
		list, err = d.sortTexts(list, 0)
	}
	if err != nil {
		return nil, nil, err
	}
	place, names = make([]uint32, d.names.limit()), make([]string, 0, len(list))
	for _, o := range list {
		if last := len(names) - 1; last < 0 || names[last] != o.text {
			names = append(names, o.text)
		}
		place[o.id] = uint32(len(names) - 1)
	}
	return names, place, nil
}

// textsOf fills in the texts of names.
func (d *dumper) textsOf(list []numbered) ([]numbered, error) {
	parts := d.parts(list)
	return list, d.each(len(parts), func() func(int) error {
		return func(i int) error {
			for k := range parts[i] {
				o := &parts[i][k]
				e := d.names.at(o.id)
				if o.text = e.text; !e.sound {
					o.text = emit.OriginName(e.text)
				}
			}
			return nil
		}
	})
}

// mergeAll makes one sorted list of some.
func mergeAll[T any](parts [][]T, compare func(a, b T) int) []T {
	for len(parts) > 1 {
		var merged [][]T
		for pair := range slices.Chunk(parts, 2) {
			if len(pair) == 2 {
				pair[0] = mergeSorted(pair[0], pair[1], compare)
			}
			merged = append(merged, pair[0])
		}
		parts = merged
	}
	if len(parts) == 0 {
		return nil
	}
	return parts[0]
}

// mergeSorted makes one sorted list of two.
func mergeSorted[T any](a, b []T, compare func(a, b T) int) []T {
	out := make([]T, 0, len(a)+len(b))
	elfx.Populate(out[:cap(out)])
	for len(a) > 0 && len(b) > 0 {
		if compare(b[0], a[0]) < 0 {
			out, b = append(out, b[0]), b[1:]
		} else {
			out, a = append(out, a[0]), a[1:]
		}
	}
	return append(append(out, a...), b...)
}
