package dump

import (
	"cmp"
	"fmt"
	"slices"

	"symkit/dump/dwarfx"
	"symkit/emit"
	"symkit/internal/limits"
)

// listBare fills in bare, and makes room for the functions of the module.
func (d *dumper) listBare() {
	d.bare = d.bareFuncs()
	d.m.Funcs = make([]Func, len(d.funcs), len(d.funcs)+len(d.bare))
	clear(d.m.Funcs) // as newSlots does
}

// bareFuncs are the functions that no DIE describes but a symbol with a size
// does: gcc's thunks, bodies that its identical code folding replaced, assembly
// whose assembler wrote lines only. They are clipped to the gaps that the other
// functions leave.
func (d *dumper) bareFuncs() (bare []fn) {
	next := 0 // the first function that ends above the symbol
	for i := 0; i < len(d.syms); {
		aliases := d.syms.at(d.syms[i].addr)
		i += len(aliases)
		f := fn{lo: aliases[0].addr}
		for _, s := range aliases {
			if s.rank < label {
				f.hi = max(f.hi, s.end)
			}
		}
		for next < len(d.funcs) && d.funcs[next].hi <= f.lo {
			next++
		}
		if next < len(d.funcs) {
			f.hi = min(f.hi, d.funcs[next].lo)
		}
		if last := len(bare) - 1; last >= 0 {
			bare[last].hi = min(bare[last].hi, f.lo)
		}
		if _, ok := d.relative(f.lo); ok && f.lo < f.hi {
			bare = append(bare, f)
		}
	}
	return bare
}

// claim is what a unit's line table knows of a function that has no DIE.
type claim struct {
	bare  int // its index
	lines []emit.Line
}

// maxClaims bounds the claims of all units, of which the bare functions have one each where the
// file is sound.
func maxClaims(bare int) int64 { return int64(8*bare) + 1<<10 }

// claim returns the bare functions that begin where rows has a line.
func (d *dumper) claim(bare []fn, rows []dwarfx.LineRow, files *unitFiles) (claims []claim) {
	if len(rows) == 0 {
		return nil
	}
	i, _ := slices.BinarySearchFunc(bare, rows[0].Addr, func(f fn, addr uint64) int { return cmp.Compare(f.lo, addr) })
	at := 0
	for ; i < len(bare) && bare[i].lo < rows[len(rows)-1].Addr; i++ {
		at = rowAt(rows, at, bare[i].lo)
		if rows[at].File == dwarfx.EndOfCode {
			next := rows[at+1].Addr // there is one, above the function
			i += leading(bare[i:], func(f *fn) bool { return f.lo < next }) - 1
			continue
		}
		if d.claims.Add(1) > maxClaims(len(bare)) {
			return nil
		}
		claims = append(claims, claim{i, d.clipLines(nil, bare[i].lo, bare[i].hi, rows[at:], files)})
	}
	return claims
}

// addBare makes functions of the bare ones that were claimed; of several units
// the first holds.
func (d *dumper) addBare(bare []fn, claims [][]claim) {
	if d.claims.Load() > maxClaims(len(bare)) { // then it is chance which ones were made
		d.dwarfLoss(fmt.Errorf(".debug_line+0x0: %w", limits.LineSharing.Exceeded(0)))
		return
	}
	taken, lines, count := make([]bool, len(bare)), make([][]emit.Line, len(bare)), 0
	for ui, claims := range claims {
		for _, c := range claims {
			if taken[c.bare] {
				continue
			}
			taken[c.bare], lines[c.bare] = true, c.lines
			bare[c.bare].unit = uint32(ui)
			count++
		}
	}
	if count == 0 {
		return
	}
	// Both lists grow, and what is in them moves up, from the end on.
	left, to := len(d.funcs), len(d.funcs)+count
	d.funcs = append(d.funcs, make([]fn, count)...)
	d.m.Funcs = append(d.m.Funcs, make([]Func, count)...)
	for i := len(bare) - 1; i >= 0; i-- {
		if !taken[i] {
			continue
		}
		f := bare[i]
		for ; left > 0 && d.funcs[left-1].lo > f.lo; left-- {
			to--
			d.funcs[to], d.m.Funcs[to] = d.funcs[left-1], d.m.Funcs[left-1]
		}
		n := naming{key: d.syms.at(f.lo)[0].name, linkage: true}
		text, _ := n.readable(&d.demangler)
		f.name = d.names.add(text)
		to--
		d.funcs[to], d.m.Funcs[to] = f, Func{lines: lines[i]}
	}
	d.listFuncs()
}
