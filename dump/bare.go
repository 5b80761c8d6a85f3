package dump

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
