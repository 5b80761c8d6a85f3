package publics

import (
	"debug/elf"
	"math"
	"slices"

	"symkit/dump/internal/losses"
	"symkit/dump/internal/symbols"
	"symkit/elfx"
	"symkit/emit"
	"symkit/internal/limitof"
	"symkit/internal/wire"
)

// pltSections hold the stubs through which other modules' functions are called.
// Linkers give the stubs no symbols, so without PUBLIC records of their own a PC in a
// stub would get the name of the last symbol before the section.
var pltSections = []string{".plt", ".plt.sec", ".plt.got", ".plt.bnd", ".iplt", ".MIPS.stubs"}

// listSlots makes a PUBLIC of every PLT slot, NAME@plt, and one with the section's
// name where a section begins with code that is no slot.
func listSlots(img *elfx.Image, syms symbols.Table, names *namer, opt Options) ([]sized, losses.List) {
	decode := stubDecoders[img.Main.Machine]
	if decode == nil {
		return nil, losses.List{}
	}
	x := plt{img: img, f: img.Main, syms: syms, names: names, opt: opt, decode: decode}
	for _, name := range pltSections {
		s := x.f.Section(name)
		if s == nil || !s.Present() || s.Flags&elf.SHF_EXECINSTR == 0 {
			continue
		}
		code, err := s.Data()
		if err != nil {
			x.lost.Add(err)
			continue
		}

		// Most relocatable objects and static programs have no slots and need no targets.
		if x.targets == nil {
			x.readTargets()
		}
		x.section(name, s.Addr, code, stubStep(s))
	}
	return x.publics, x.lost
}

// plt is the walk over the PLT of one file.
type plt struct {
	img    *elfx.Image
	f      *elfx.File
	syms   symbols.Table
	names  *namer
	opt    Options
	decode stubDecoder

	targets map[uint64][]byte // by the virtual address of the GOT slot
	lazy    [][]byte          // by the number of the .rel(a).plt entry
	dynsym  *elfx.SymbolTable
	got     uint64 // _GLOBAL_OFFSET_TABLE_

	read    uint64 // bytes of names that were read
	bytes   uint64 // bytes of the names of publics
	publics []sized
	lost    losses.List
}

// readPerName is how many bytes of names are read for each byte that may be written.
const readPerName = 4

// readTargets reads which symbol each GOT slot belongs to.
func (x *plt) readTargets() {
	// Position-independent slots of i386 address the GOT relative to its start.
	x.targets = map[uint64][]byte{}
	var err error
	x.dynsym, err = x.f.Dynsym()
	x.lost.Add(err)
	for _, name := range []string{".got.plt", ".got"} {
		s := x.f.Section(name)
		if s != nil && x.got == 0 {
			x.got = s.Addr
		}
	}

	// A relocation names the symbol whose address the dynamic linker stores.
	for _, name := range []string{".rela.plt", ".rel.plt", ".rela.dyn", ".rel.dyn", ".rela.iplt", ".rel.iplt"} {
		s := x.f.Section(name)
		if s == nil || !s.Present() {
			continue
		}
		relocs, err := s.Relocs()
		x.lost.Add(err)
		for _, r := range relocs {
			symbol := x.target(r)

			// Many relocations can name one long symbol.
			x.read += uint64(len(symbol))
			if x.read/readPerName > x.opt.Limits.Max(limitof.Names, x.img.Size()) {
				x.lost.Add(x.exceeded())
				return
			}

			if len(symbol) > 0 {
				x.targets[r.Offset] = symbol
			}
			if name == ".rela.plt" || name == ".rel.plt" {
				x.lazy = append(x.lazy, symbol)
			}
		}
	}
}

// exceeded returns the error for names that are too many or too long.
func (x *plt) exceeded() error {
	return losses.InFile(x.f.Path(), x.opt.Limits.Exceeded(limitof.Names, x.img.Size()))
}

// target returns the name of the function that a relocation fills in: the symbol's
// or, for an IRELATIVE one, whose addend is an address, that of the resolver there.
func (x *plt) target(r elfx.Reloc) []byte {
	if r.Sym != 0 {
		return x.dynamicName(uint64(r.Sym))
	}
	aliases := x.syms.At(uint64(r.Addend))
	if r.Addend != 0 && len(aliases) > 0 {
		return aliases[0].Name
	}
	return nil
}

// dynamicName returns the name of symbol i of .dynsym.
func (x *plt) dynamicName(i uint64) []byte {
	if x.dynsym == nil || i >= uint64(len(x.dynsym.Symbols)) {
		return nil
	}
	return x.dynsym.NameOf(&x.dynsym.Symbols[i])
}

// section adds the slots of one section. Each reaches to the next one.
func (x *plt) section(name string, addr uint64, code []byte, step int) {
	first := len(x.publics)
	defer func() {
		end := addr + uint64(len(code))
		for i := len(x.publics) - 1; i >= first; i-- {
			p := &x.publics[i]
			p.size = uint32(min(end-x.opt.Load-p.Addr, math.MaxUint32))
			end = p.Addr + x.opt.Load
		}
	}()
	var before slotRef // of the step before
	for at := 0; at < len(code); at += step {
		s := x.decode(stub{
			Cursor: wire.New(name, code[at:], x.f.BigEndian),
			pc:     addr + uint64(at), got: x.got,
		})

		// A slot that begins with bti, or with a change from Thumb, is recognised without that, too.
		again := s == before && s.kind == slotGOT
		before = s
		if again {
			continue
		}

		var symbol []byte
		switch {
		case s.kind == slotGOT:
			symbol = x.targets[s.value]
		case s.kind == slotLazy && s.value < uint64(len(x.lazy)):
			symbol = x.lazy[s.value]
		case s.kind == slotSymbol:
			symbol = x.dynamicName(s.value)
		}

		// A section often begins with the code that calls the dynamic linker.
		switch {
		case len(symbol) > 0:
			x.add(addr+uint64(at), slices.Concat(x.names.readable(symbol), []byte("@plt")))
		case at == 0:
			x.add(addr, []byte(name))
		}

		if x.bytes > x.opt.Limits.Max(limitof.Names, x.img.Size()) { // slots can share a long name
			x.lost.Add(x.exceeded())
			return
		}
	}
}

// add adds a PUBLIC at a virtual address.
func (x *plt) add(addr uint64, name []byte) {
	x.bytes += uint64(len(name))
	if addr >= x.opt.Load {
		x.publics = append(x.publics, sized{Public: emit.Public{Addr: addr - x.opt.Load, Name: name}})
	}
}
