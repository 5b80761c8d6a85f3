// Package publics makes the PUBLIC records.
//
// It takes the code symbols and the FUNC records, and gives a PUBLIC for each symbol
// that no FUNC covers and for each slot of a procedure linkage table. The records are
// sorted by address, and no two have one address.
package publics

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"symkit/dump/internal/losses"
	"symkit/dump/internal/record"
	"symkit/dump/internal/symbols"
	"symkit/elfx"
	"symkit/emit"
	"symkit/internal/demangle"
	"symkit/internal/limitof"
	"symkit/internal/par"
	"symkit/internal/plt"
	"symkit/limits"
)

// Options says how List makes the records.
type Options struct {
	Load     uint64        // load address, which addresses are relative to
	Multiple bool          // mark symbols that share an address
	Linkage  bool          // names are not demangled
	Language uint16        // DW_LANG of the symbols, as far as it matters for their names
	Limits   limits.Limits // the names of all slots are within the limit names
}

// Listed are the PUBLIC records of a module. Names that are not demangled alias the
// string table: a million symbols can have ends of one long name.
type Listed struct {
	Publics   []emit.Public // by address
	Sizes     []uint32      // of Publics, in bytes; 0: unknown
	BelowLoad int           // symbols below the load address
}

// List makes a PUBLIC of every symbol that no record of funcs covers, the best
// alias if there are several, and of every PLT slot.
func List(img *elfx.Image, syms symbols.Table, funcs []record.Func, opt Options) (Listed, losses.List) {
	var l Listed
	var all []sized
	namer := &namer{raw: opt.Linkage, language: opt.Language, left: opt.Limits.Max(limitof.Names, img.Size())}
	next := 0 // index in funcs of the first function that ends above the symbol
	for i := 0; i < len(syms); {
		s := &syms[i]
		aliases := syms.Aliases(i)
		i += len(aliases)
		if s.Addr < opt.Load {
			l.BelowLoad++
			continue
		}

		// The symbol of a described function, and labels in the function, are left out.
		addr := s.Addr - opt.Load
		for next < len(funcs) && funcs[next].Addr+funcs[next].Size <= addr {
			next++
		}
		if next < len(funcs) && funcs[next].Addr <= addr {
			continue
		}
		all = append(all, sized{emit.Public{Addr: addr, Name: namer.readable(s.Name), Multiple: len(aliases) > 1 && opt.Multiple}, sizeOf(aliases)})
	}

	slots, lost := listSlots(img.Main, syms, namer, opt, img.Size())
	if namer.full {
		lost.AddIn(img.Main.Path(), fmt.Errorf("names of symbols stay as they are: %w", opt.Limits.Exceeded(limitof.Names, img.Size())))
	}
	for _, p := range merge(all, slots) {
		l.Publics, l.Sizes = append(l.Publics, p.Public), append(l.Sizes, p.size)
	}
	return l, lost
}

// sized is a PUBLIC with the size of its symbol, 0 if it is not known.
type sized struct {
	emit.Public
	size uint32
}

// sizeOf returns the greatest size of symbols at one address.
func sizeOf(aliases []symbols.Symbol) uint32 {
	size := uint64(0)
	for i := range aliases {
		size = max(size, aliases[i].End-aliases[i].Addr)
	}
	return uint32(min(size, math.MaxUint32))
}

// merge adds the PLT slots at addresses without a symbol.
func merge(symbols, slots []sized) []sized {
	byAddr := func(a, b sized) int { return cmp.Compare(a.Addr, b.Addr) }
	slices.SortStableFunc(slots, byAddr) // linkers may write the sections of slots in any order
	all := par.Merge(symbols, slots, byAddr)
	return slices.CompactFunc(all, func(a, b sized) bool { return a.Addr == b.Addr })
}

// listSlots makes a PUBLIC of every PLT slot of f, NAME@plt, and one with the section's name where a section begins
// with code that is no slot. Without PUBLIC records of their own a PC in a slot would get the name of the last symbol
// before the section.
func listSlots(f *elfx.File, syms symbols.Table, names *namer, opt Options, size uint64) (publics []sized, lost losses.List) {
	most, exceeded := opt.Limits.Max(limitof.Names, size), opt.Limits.Exceeded(limitof.Names, size)
	resolver := func(addr uint64) []byte {
		aliases := syms.At(addr)
		if len(aliases) == 0 {
			return nil
		}
		return aliases[0].Name
	}
	slots, errs := plt.Read(f, plt.Options{Resolver: resolver, Most: most, Exceeded: exceeded})
	for _, err := range errs {
		lost.Add(err)
	}
	bytes := uint64(0)
	for i := range slots {
		s := &slots[i]
		name := s.Name
		if !s.Head {
			name = slices.Concat(names.readable(name), []byte("@plt"))
		}
		if s.Addr >= opt.Load {
			publics = append(publics, sized{emit.Public{Addr: s.Addr - opt.Load, Name: name}, s.Size})
		}
		bytes += uint64(len(name))
		if bytes > most { // slots can share a long name
			lost.AddIn(f.Path(), exceeded)
			break
		}
	}
	return publics, lost
}

// namer makes the readable names of symbols.
type namer struct {
	raw       bool // names stay as they are
	language  uint16
	demangler demangle.Demangler
	left      uint64 // bytes that demangled names may still have
	full      bool   // there were more
}

// readable returns the readable name of a symbol, which may be symbol itself: also after the readable
// names have taken the memory that they may take.
func (n *namer) readable(symbol []byte) []byte {
	if n.raw {
		return symbol
	}
	text, ok := n.demangler.ForLanguage(n.language, symbol)
	if !ok {
		return symbol
	}
	n.full = n.full || uint64(len(text)) > n.left
	if n.full {
		return symbol
	}
	n.left -= uint64(len(text))
	return []byte(text)
}
