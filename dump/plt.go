package dump

import (
	"cmp"
	"debug/elf"
	"slices"

	"symkit/elfx"
	"symkit/emit"
	"symkit/internal/limits"
	"symkit/internal/wire"
)

// pltSections hold the stubs through which other modules' functions are
// called. Linkers give them no symbols, so that a PC in one would take the name
// of whatever symbol comes before.
var pltSections = []string{".plt", ".plt.sec", ".plt.got", ".plt.bnd", ".iplt", ".MIPS.stubs"}

// pltPublics makes a PUBLIC of every PLT slot, NAME@plt, and one with the
// section's name where a section begins with code that is no slot.
func (d *dumper) pltPublics() []emit.Public {
	decode := stubDecoders[d.img.Main.Machine]
	if decode == nil {
		return nil
	}
	x := plt{d: d, f: d.img.Main, decode: decode}
	for _, name := range pltSections {
		s := x.f.Section(name)
		if s == nil || !s.Present() || s.Flags&elf.SHF_EXECINSTR == 0 {
			continue
		}
		code, err := s.Data()
		if err != nil {
			d.loss(err)
			continue
		}
		if x.names == nil {
			x.readNames()
		}
		x.section(name, s.Addr, code, stubStep(s))
	}
	return x.publics
}

// plt is the walk over the PLT of one file.
type plt struct {
	d       *dumper
	f       *elfx.File
	decode  stubDecoder
	names   map[uint64][]byte // by the address of the GOT slot
	lazy    [][]byte          // by the number of the .rel(a).plt entry
	bytes   uint64            // of the names of publics
	dynsym  *elfx.SymbolTable
	got     uint64 // _GLOBAL_OFFSET_TABLE_
	publics []emit.Public
}

// readNames reads which symbol every GOT slot belongs to.
func (x *plt) readNames() {
	x.names = map[uint64][]byte{}
	var err error
	x.dynsym, err = x.f.Dynsym()
	x.d.loss(err)
	for _, name := range []string{".got.plt", ".got"} {
		if s := x.f.Section(name); s != nil && x.got == 0 {
			x.got = s.Addr
		}
	}
	for _, name := range []string{".rela.plt", ".rel.plt", ".rela.dyn", ".rel.dyn", ".rela.iplt", ".rel.iplt"} {
		s := x.f.Section(name)
		if s == nil || !s.Present() {
			continue
		}
		relocs, err := s.Relocs()
		x.d.loss(err)
		for _, r := range relocs {
			symbol := x.target(r)
			if x.d.tooMuchRead(len(symbol)) {
				x.d.loss(x.d.namesExceeded())
				return
			}
			if len(symbol) > 0 {
				x.names[r.Offset] = symbol
			}
			if name == ".rela.plt" || name == ".rel.plt" {
				x.lazy = append(x.lazy, symbol)
			}
		}
	}
}

// target is the name of the function that a relocation fills in: the symbol's,
// or that of the resolver of an IRELATIVE one, which has its address as addend.
func (x *plt) target(r elfx.Reloc) []byte {
	if r.Sym != 0 {
		return x.dynamicName(uint64(r.Sym))
	}
	if aliases := x.d.syms.at(uint64(r.Addend)); r.Addend != 0 && len(aliases) > 0 {
		return aliases[0].name
	}
	return nil
}

// dynamicName is the name of symbol i of .dynsym.
func (x *plt) dynamicName(i uint64) []byte {
	if x.dynsym == nil || i >= uint64(len(x.dynsym.Symbols)) {
		return nil
	}
	return unversioned(x.dynsym.NameOf(&x.dynsym.Symbols[i]))
}

// section adds the slots of one section.
func (x *plt) section(name string, addr uint64, code []byte, step int) {
	for at := 0; at < len(code); at += step {
		s := x.decode(stub{
			Cursor: wire.New(name, code[at:], x.f.BigEndian),
			pc:     addr + uint64(at), got: x.got,
		})
		var symbol []byte
		switch {
		case s.kind == slotGOT:
			symbol = x.names[s.value]
		case s.kind == slotLazy && s.value < uint64(len(x.lazy)):
			symbol = x.lazy[s.value]
		case s.kind == slotSymbol:
			symbol = x.dynamicName(s.value)
		}
		switch {
		case len(symbol) > 0:
			x.add(addr+uint64(at), slices.Concat(x.d.publicName(symbol), []byte("@plt")))
		case at == 0:
			x.add(addr, []byte(name))
		}
		if x.bytes > limits.Names.Max(x.d.img.Size()) { // slots can share a long name
			x.d.loss(x.d.namesExceeded())
			return
		}
	}
}

func (x *plt) add(addr uint64, name []byte) {
	x.bytes += uint64(len(name))
	if rel, ok := x.d.relative(addr); ok {
		x.publics = append(x.publics, emit.Public{Addr: rel, Name: name})
	}
}

// mergePublics adds PLT slots where the symbol table names nothing.
func mergePublics(symbols, slots []emit.Public) []emit.Public {
	all := append(symbols, slots...)
	slices.SortStableFunc(all, func(a, b emit.Public) int { return cmp.Compare(a.Addr, b.Addr) })
	return slices.CompactFunc(all, func(a, b emit.Public) bool { return a.Addr == b.Addr })
}
