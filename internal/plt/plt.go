// Package plt finds the slots of a file's procedure linkage tables: stubs through which functions of other modules are
// called. Linkers give the stubs no symbols.
//
//	slots, errs := plt.Read(f, plt.Options{})
//	for _, s := range slots {
//		fmt.Printf("%#x: %s@plt\n", s.Addr, s.Name)
//	}
//
// Slots are recognised by their instructions (stub.go), since neither sizes nor order of the slots are fixed. A slot
// loads the address of its function from a word of the GOT, whose relocation names the function.
package plt

import (
	"debug/elf"
	"math"

	"symkit/elfx"
	"symkit/internal/filename"
	"symkit/internal/wire"
)

// sections hold the stubs.
var sections = []string{".plt", ".plt.sec", ".plt.got", ".plt.bnd", ".iplt", ".MIPS.stubs"}

// Slot is a slot, or the code with which a section begins if that is no slot: it calls the dynamic linker.
type Slot struct {
	Addr uint64 // virtual
	Size uint32 // bytes up to the next slot, or to the end of the section
	Head bool   // the begin of a section
	// Name is that of the function, as the symbol table has it, or of the section. It may alias the file.
	Name []byte
}

// Options say how Read names functions.
type Options struct {
	// Resolver returns the name of the function at a virtual address, or nil. An indirect function has the name of its
	// resolver. Resolver may be nil.
	Resolver func(addr uint64) []byte
	// Most is how many bytes of names the caller may keep, 0 for no bound. A few times as many are read: many
	// relocations can name one long symbol. Exceeded is the error for more.
	Most     uint64
	Exceeded error
}

// readPerName is how many bytes of names are read for each byte that the caller may keep.
const readPerName = 4

// Read returns the slots of f, section by section. Errors have the path of the file; what they leave is returned.
func Read(f *elfx.File, opt Options) (slots []Slot, errs []error) {
	decode := stubDecoders[f.Machine]
	if decode == nil {
		return nil, nil
	}
	x := reader{f: f, opt: opt, decode: decode}
	for _, name := range sections {
		s := f.Section(name)
		if s == nil || !s.Present() || s.Flags&elf.SHF_EXECINSTR == 0 {
			continue
		}
		code, err := s.Data()
		if err != nil {
			x.errs = append(x.errs, err)
			continue
		}

		// Most relocatable objects and static programs have no slots and need no targets.
		if x.targets == nil {
			x.readTargets()
		}
		if f.Machine == elf.EM_386 {
			x.got = headGOT(code, x.got)
		}
		x.section(name, s.Addr, code, stubStep(s))
	}
	return x.slots, x.errs
}

// reader is the walk over the slots of one file.
type reader struct {
	f      *elfx.File
	opt    Options
	decode stubDecoder

	targets map[uint64][]byte // by the virtual address of the GOT slot
	lazy    [][]byte          // by the number of the .rel(a).plt entry
	dynsym  *elfx.SymbolTable
	got     uint64 // _GLOBAL_OFFSET_TABLE_

	slots []Slot
	errs  []error
}

// lose notes an error that has its path; nil is none.
func (x *reader) lose(err error) {
	if err != nil {
		x.errs = append(x.errs, err)
	}
}

// readTargets reads which symbol each GOT slot belongs to.
func (x *reader) readTargets() {
	// Position-independent slots of i386 address the GOT relative to its start.
	x.targets = map[uint64][]byte{}
	var err error
	x.dynsym, err = x.f.Dynsym()
	x.lose(err)
	for _, name := range []string{".got.plt", ".got"} {
		s := x.f.Section(name)
		if s != nil && x.got == 0 {
			x.got = s.Addr
		}
	}

	// A relocation names the symbol whose address the dynamic linker stores.
	read := uint64(0)
	for _, name := range []string{".rela.plt", ".rel.plt", ".rela.dyn", ".rel.dyn", ".rela.iplt", ".rel.iplt"} {
		s := x.f.Section(name)
		if s == nil || !s.Present() {
			continue
		}
		relocs, err := s.Relocs()
		x.lose(err)
		for _, r := range relocs {
			symbol := x.target(r)
			read += uint64(len(symbol))
			if x.opt.Most > 0 && read/readPerName > x.opt.Most {
				x.lose(&filename.Error{Path: x.f.Path(), Err: x.opt.Exceeded})
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

// target returns the name of the function that a relocation fills in: the symbol's
// or, for an IRELATIVE one, whose addend is an address, that of the resolver there.
func (x *reader) target(r elfx.Reloc) []byte {
	switch {
	case r.Sym != 0:
		return x.dynamicName(uint64(r.Sym))
	case r.Addend != 0 && x.opt.Resolver != nil:
		return x.opt.Resolver(uint64(r.Addend))
	}
	return nil
}

// dynamicName returns the name of symbol i of .dynsym.
func (x *reader) dynamicName(i uint64) []byte {
	if x.dynsym == nil || i >= uint64(len(x.dynsym.Symbols)) {
		return nil
	}
	return x.dynsym.NameOf(&x.dynsym.Symbols[i])
}

// section adds the slots of one section. Each reaches to the next one.
func (x *reader) section(name string, addr uint64, code []byte, step int) {
	first := len(x.slots)
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
		switch {
		case len(symbol) > 0:
			x.slots = append(x.slots, Slot{Addr: addr + uint64(at), Name: symbol})
		case at == 0:
			x.slots = append(x.slots, Slot{Addr: addr, Name: []byte(name), Head: true})
		}
	}

	end := addr + uint64(len(code))
	for i := len(x.slots) - 1; i >= first; i-- {
		s := &x.slots[i]
		s.Size = uint32(min(end-s.Addr, math.MaxUint32))
		end = s.Addr
	}
}
