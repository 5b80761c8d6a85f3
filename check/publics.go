package check

import (
	"symkit/check/internal/collect"
	"symkit/check/internal/naming"
	"symkit/check/internal/pcs"
	"symkit/check/report"
)

// checkPublics checks that every function symbol that no FUNC covers has a PUBLIC, and that every
// PUBLIC is a symbol.
func (r *replay) checkPublics() error {
	c, s := r.c, r.s
	c.Begin(report.CheckPublics, "symbols")
	all := r.symbols.all
	if r.symbols.over != nil {
		c.State(report.CheckPublics, report.NotVerified, "")
		c.Unread(report.CheckPublics, uint64(max(len(s.Publics), 1)), r.symbols.over.Error())
		return nil
	}
	if !r.symbols.any {
		c.State(report.CheckPublics, report.NotInELF, "no symbol table")
		c.Unverified(report.CheckPublics, uint64(len(s.Publics)), "")
		return nil
	}

	// Symbols at one address are judged together.
	funcs := pcs.SetOf(s.Funcs)
	inner := uint64(0) // after the last byte of the function symbols so far
	for from := 0; from < len(all); {
		to := from
		function, name := false, uint32(0)
		for to < len(all) && all[to].addr == all[from].addr {
			// Tools may omit labels; symkit omits only labels inside functions.
			if !function && (all[to].kind == symbolFunction || r.s.Own && all[to].kind == symbolLabel && all[to].addr >= inner) {
				function, name = true, all[to].name
			}
			to++
		}

		inner = max(inner, sizedEnd(all[from:to], true))
		if addr := all[from].addr; function && addr >= r.bias && !funcs.Contains(addr-r.bias) {
			c.Compared(report.CheckPublics, 1)
			if !r.hasPublic(addr) {
				c.Missing(collect.At(report.CheckPublics, 0, addr-r.bias, "no PUBLIC at %#x: %s", addr-r.bias, r.symbols.names.Text(name)), 1)
			}
		}
		from = to
	}
	r.publicNames()
	r.publicSizes()
	return nil
}

// publicNames checks that each PUBLIC has the name of a symbol at its address, or of a stub for
// calls to other modules.
func (r *replay) publicNames() {
	c, s := r.c, r.s
	stubs := r.readStubs()
	stubs.missing()
	for i := range s.Publics {
		p := &s.Publics[i]
		addr := p.Addr + r.bias

		// Any name of any symbol at the address is right.
		same := r.symbols.at(addr)
		verdict, stub := r.symbols.judge(same, string(p.Name)), false
		if verdict == naming.Wrong {
			verdict = stubs.judge(addr, string(p.Name))
			stub = verdict != naming.Wrong
		}
		if verdict == naming.Unverified {
			c.Unverified(report.CheckPublics, 1, noteUnverified)
		} else {
			c.Compared(report.CheckPublics, 1)
		}
		switch {
		case stub:
		case len(same) == 0:
			c.Wrong(collect.At(report.CheckPublics, p.At, p.Addr, "no symbol of code is at %#x", p.Addr), 1)
		case verdict == naming.Wrong:
			c.Wrong(collect.At(report.CheckPublics, p.At, p.Addr, "the symbol is %s", r.symbols.names.Text(same[0].name)), 1)
		case p.Multiple && !r.symbols.shared(addr):
			c.Wrong(collect.At(report.CheckPublics, p.At, p.Addr, "marked m, but no other symbol shares its address"), 1)
		}
		if p.Params != 0 {
			c.Wrong(collect.At(report.CheckPublics, p.At, p.Addr, "a parameter size other than 0"), 1)
		}
	}
}
