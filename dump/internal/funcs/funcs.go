// Package funcs decides which FUNC records a module has.
//
// It takes the functions of all units and the symbol table, and gives one FUNC for
// each range of a function. The ranges are sorted by address, no two of them begin at
// one address, and none overlap.
package funcs

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"symkit/dump/internal/load"
	"symkit/dump/internal/naming"
	"symkit/dump/internal/symbols"
	"symkit/internal/par"
)

// Func is one range of a function that the debug information describes.
type Func struct {
	Lo, Hi   uint64 // virtual addresses
	Unit     uint32 // index of the unit that describes the function
	Index    uint32 // of the function in the unit's Funcs
	Name     uint32 // number of its name
	Multiple bool   // other functions share its address
	Open     bool   // only a symbol without a size describes it: the end of its line sequence ends it too
}

// Merged are the functions of a module, by address, without overlaps.
type Merged struct {
	Funcs []Func
	// ByUnit holds, for each unit, indices of Funcs: the functions it describes.
	ByUnit [][]uint32

	Folded    int // functions at an address that another one has
	Clipped   int // functions that were cut, because another one begins in them
	BelowLoad int // ranges below the load address
}

// Options says how Merge chooses.
type Options struct {
	Jobs        int
	LoadAddress uint64 // virtual; ranges below it are left out
	Multiple    bool   // mark functions that share an address
}

// Merge makes the FUNC ranges of all units. Of the functions at one address, Merge keeps
// the one whose name the symbol table ranks first; of several the largest, then the first
// by name, then the first in the list of units. The kept function gets the largest size.
func Merge(ctx context.Context, units *load.Units, syms symbols.Table, opt Options) (Merged, error) {
	// The ranges are counted first, so that the slice of functions is never copied to grow.
	var m Merged
	count := 0
	for _, u := range units.List {
		for i := range u.Funcs {
			r := u.Funcs[i].Ranges
			count += int(r.To - r.From)
		}
	}

	all := make([]Func, 0, count)
	for ui, u := range units.List {
		for fi := range u.Funcs {
			span := u.Funcs[fi].Ranges
			for _, r := range u.Ranges[span.From:span.To] {
				if r.Lo < opt.LoadAddress {
					m.BelowLoad++
					continue
				}
				all = append(all, Func{Lo: r.Lo, Hi: r.Hi, Unit: uint32(ui), Index: uint32(fi), Name: u.FuncNames[fi]})
			}
		}
	}

	// By address and, at one address, by unit and place in the unit.
	all, err := par.Sort(ctx, opt.Jobs, all, func(a, b Func) int {
		if a.Lo != b.Lo {
			return cmp.Compare(a.Lo, b.Lo)
		}
		return cmp.Or(cmp.Compare(a.Unit, b.Unit), cmp.Compare(a.Index, b.Index), cmp.Compare(a.Hi, b.Hi))
	})
	if err != nil {
		return m, err
	}

	// One function is kept for each address, and ends where the next one begins at the
	// latest. The kept functions overwrite the start of all.
	c := chooser{names: units.Names, syms: syms, multiple: opt.Multiple}
	m.Funcs = all[:0]
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n].Lo == all[0].Lo {
			n++
		}
		best := c.best(all[:n])
		m.Folded += n - 1
		all = all[n:]

		last := len(m.Funcs) - 1
		if last >= 0 && m.Funcs[last].Hi > best.Lo {
			m.Funcs[last].Hi = best.Lo
			m.Clipped++
		}
		m.Funcs = append(m.Funcs, best)
	}

	nameBySymbols(m.Funcs, units, syms)
	m.ByUnit = make([][]uint32, len(units.List))
	for i := range m.Funcs {
		list := &m.ByUnit[m.Funcs[i].Unit]
		*list = append(*list, uint32(i))
	}
	return m, nil
}

// chooser chooses among functions at one address.
type chooser struct {
	names    *naming.Table
	syms     symbols.Table
	multiple bool
}

// best returns the function that represents same, all functions at one address.
func (c *chooser) best(same []Func) Func {
	best := same[0]
	if len(same) == 1 {
		return best
	}

	rank := c.syms.At(best.Lo).Ranks()
	size, multiple := best.Hi, false
	for _, f := range same[1:] {
		size = max(size, f.Hi)
		a, b := c.names.Key(f.Name).ID(), c.names.Key(best.Name).ID()
		if bytes.Equal(a, b) {
			continue
		}
		multiple = c.multiple
		order := cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(best.Hi, f.Hi), bytes.Compare(a, b))
		if order < 0 {
			best = f
		}
	}
	best.Hi, best.Multiple = size, multiple
	return best
}

// nameBySymbols names the functions whose DIEs have no name, or whose name is partly
// in a supplementary file that is missing, by the symbol at their address. Where only the
// plain name is left (-g1), the symbol must have that name too.
func nameBySymbols(funcs []Func, units *load.Units, syms symbols.Table) {
	namer := naming.NewNamer(units.Names)
	for i := range funcs {
		f := &funcs[i]
		k := units.Names.Key(f.Name)
		unnamed := k.Lost || k.IsEmpty()
		plain := !unnamed && units.List[f.Unit].Typeless && k.LacksLinkage()
		if !unnamed && !plain {
			continue
		}
		aliases := syms.At(f.Lo)
		if plain {
			aliases = withPlain(aliases, k, namer)
		}
		if len(aliases) == 0 || !aliases[0].IsFunc() {
			continue
		}
		symbol := naming.SymbolKey(aliases[0].Name, k)
		f.Name = namer.Symbol(&symbol, uint64(i))
	}
}

// withPlain returns aliases from the first one on whose name is k's plain name in a scope; none if
// the plain name is a symbol itself, as that of an extern "C" function with C++ aliases.
func withPlain(aliases symbols.Table, k *naming.Key, namer *naming.Namer) symbols.Table {
	isPlain := func(s symbols.Symbol) bool { return bytes.Equal(s.Name, k.Plain) }
	if slices.ContainsFunc(aliases, isPlain) {
		return nil
	}
	first := slices.IndexFunc(aliases, func(s symbols.Symbol) bool { return namer.IsSymbolOf(k, s.Name) })
	if first < 0 {
		return nil
	}
	return aliases[first:]
}
