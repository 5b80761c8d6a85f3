package dump

import "symkit/emit"

// collectPublics makes a PUBLIC of every code symbol that no FUNC covers, the
// best alias where there are several, and of every PLT slot.
func (d *dumper) collectPublics() error {
	next := 0 // the first function that ends above the symbol
	for i := 0; i < len(d.syms); {
		s := &d.syms[i]
		n := len(d.syms.at(s.addr))
		i += n
		for next < len(d.funcs) && d.funcs[next].hi <= s.addr {
			next++
		}
		if next < len(d.funcs) && d.funcs[next].lo <= s.addr {
			continue
		}
		addr, ok := d.relative(s.addr)
		if !ok {
			d.m.Stats.BelowLoad++
			continue
		}
		d.m.Publics = append(d.m.Publics, emit.Public{
			Addr: addr, Name: d.publicName(s.name), Multiple: n > 1 && d.opt.Multiple,
		})
	}
	d.m.Publics = mergePublics(d.m.Publics, d.pltPublics())
	return nil
}

// publicName is a symbol's name as people read it.
func (d *dumper) publicName(symbol []byte) []byte {
	if text, ok := d.demangler.ForLanguage(d.symLanguage, symbol); ok {
		return []byte(text)
	}
	return symbol
}
