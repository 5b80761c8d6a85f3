package compare

import (
	"slices"
	"strings"

	"symkit/check/internal/checks"
	"symkit/check/internal/collect"
	"symkit/check/internal/naming"
	"symkit/check/internal/symfile"
	"symkit/check/internal/truth/plt"
	"symkit/check/internal/truth/symtab"
	"symkit/check/report"
)

// publicReport reports what symbols say about PUBLIC records.
type publicReport struct {
	*Input
	c     *collect.Outcome
	stubs *plt.Stubs // once the symbols were compared
}

// Publics checks that every function symbol that no FUNC covers has a PUBLIC, and that every PUBLIC is a
// symbol.
func Publics(in *Input) *collect.Outcome {
	r := &publicReport{Input: in, c: collect.New(in.Report)}
	r.publics()
	return r.c
}

func (r *publicReport) publics() {
	c, s := r.c, r.Sym
	c.Begin(checks.Publics, "symbols")
	all := r.Truth.Symbols.All
	if r.Truth.Symbols.Over != nil {
		c.State(checks.Publics, report.NotVerified, "")
		c.Unread(checks.Publics, uint64(max(len(s.Publics), 1)), r.Truth.Symbols.Over.Error())
		return
	}
	if !r.Truth.Symbols.Any {
		c.State(checks.Publics, report.NotInELF, "no symbol table")
		c.Unverified(checks.Publics, uint64(len(s.Publics)), "")
		return
	}

	// Symbols at one address are judged together.
	inner := uint64(0) // after the last byte of the function symbols so far
	for from := 0; from < len(all); {
		to := from
		function, name := false, uint32(0)
		for to < len(all) && all[to].Addr == all[from].Addr {
			// Tools may omit labels; symkit omits only labels inside functions.
			if !function && (all[to].Kind == symtab.Function || r.Sym.Own && all[to].Kind == symtab.Label && all[to].Addr >= inner) {
				function, name = true, all[to].Name
			}
			to++
		}

		inner = max(inner, symtab.SizedEnd(all[from:to], true))
		if addr := all[from].Addr; function && addr >= r.Bias && !r.covered.Contains(addr-r.Bias) {
			c.Compared(checks.Publics, 1)
			if !r.hasPublic(addr) {
				c.Missing(collect.At(checks.Publics, 0, addr-r.Bias, "no PUBLIC at %#x: %s", addr-r.Bias, r.Truth.Symbols.Names.Text(name)), 1)
			}
		}
		from = to
	}
	r.stubs = plt.Read(r.Truth.Image.Main, r.Truth.Symbols)
	r.publicNames()
	r.publicSizes()
}

// publicNames checks that each PUBLIC has the name of a symbol at its address, or of a stub for
// calls to other modules.
func (r *publicReport) publicNames() {
	c, s := r.c, r.Sym
	for _, err := range r.stubs.Losses {
		c.Unverified(checks.Publics, 1, err.Error())
	}
	r.missingSlots(r.stubs.Slots)
	for i := range s.Publics {
		p := &s.Publics[i]
		addr := p.Addr + r.Bias

		// Any name of any symbol at the address is right.
		same := r.Truth.Symbols.At(addr)
		verdict, stub := r.Truth.Symbols.Judge(same, string(p.Name)), false
		if verdict == naming.Wrong {
			verdict = r.stubs.Judge(addr, string(p.Name))
			stub = verdict != naming.Wrong
		}
		switch {
		case r.unknown(p):
			c.Unverified(checks.Publics, 1, noteExported)
			continue
		case verdict == naming.Unverified:
			c.Unverified(checks.Publics, 1, noteUnverified)
		default:
			c.Compared(checks.Publics, 1)
		}
		switch {
		case stub:
		case len(same) == 0:
			c.Wrong(collect.At(checks.Publics, p.At, p.Addr, "no symbol of code is at %#x", p.Addr), 1)
		case verdict == naming.Wrong:
			c.Wrong(collect.At(checks.Publics, p.At, p.Addr, "the symbol is %s", r.Truth.Symbols.Names.Text(same[0].Name)), 1)
		case p.Multiple && !r.Truth.Symbols.Shared(addr):
			c.Wrong(collect.At(checks.Publics, p.At, p.Addr, "marked m, but no other symbol shares its address"), 1)
		}
		if p.Params != 0 {
			c.Wrong(collect.At(checks.Publics, p.At, p.Addr, "a parameter size other than 0"), 1)
		}
	}
}

// noteExported is why the PUBLIC records of a stripped file are not compared.
const noteExported = "without .symtab, the file has the names of exported functions alone"

// unknown reports whether the file cannot say anything about a PUBLIC: no symbol has its address, it is
// that of no stub, and the table of the symbols that are not exported was stripped.
func (r *publicReport) unknown(p *symfile.Public) bool {
	symbols, addr := r.Truth.Symbols, p.Addr+r.Bias
	return !symbols.Local && len(symbols.At(addr)) == 0 && r.Truth.Code.Contains(addr) &&
		!strings.HasSuffix(string(p.Name), "@plt") && r.stubs.Judge(addr, string(p.Name)) == naming.Wrong
}

// missingSlots reports the slots without a PUBLIC if other slots have one: a tool that names slots names
// all of them.
func (r *publicReport) missingSlots(slots []plt.Slot) {
	if !r.Sym.Own && !slices.ContainsFunc(r.Sym.Publics, func(p symfile.Public) bool { return strings.HasSuffix(string(p.Name), "@plt") }) {
		return
	}
	for _, slot := range slots {
		if (r.Sym.Own || !slot.Own) && !r.hasPublic(slot.At[0]) && !r.hasPublic(slot.At[1]) {
			addr := slot.At[1] - r.Bias
			r.c.Missing(collect.At(checks.Publics, 0, addr, "no PUBLIC for the PLT slot at %#x: %s@plt", addr, r.Truth.Symbols.Names.Text(slot.Name)), 1)
		}
	}
}
