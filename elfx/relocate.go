package elfx

import (
	"debug/elf"
	"errors"
	"fmt"

	"symkit/elfx/internal/reloc"
	"symkit/internal/mem"
	"symkit/located"
)

// Reasons for which a section of a relocatable object, or one of its fields, was not
// relocated.
var (
	// errRelocType: the type does not occur in debug or unwind information on
	// this machine, or the machine is not known.
	errRelocType = reloc.ErrType
	// errRelocPlace: the field is outside the section.
	errRelocPlace = reloc.ErrPlace
	// errRelocSymbol: the symbol is not in the table, or its section does not
	// exist.
	errRelocSymbol = reloc.ErrSymbol
	// errRelocTable: the relocations do not refer to the file's symbol table.
	errRelocTable = errors.New("relocations without the symbol table")
	// errOverlap: sections or relocation sections overlap. No tool writes such
	// files, and copies of overlapping sections could take any amount of memory.
	errOverlap = errors.New("sections overlap")
)

// maxRelocLosses bounds the kinds of failure that a section's losses distinguish.
const maxRelocLosses = 16

// RelocLosses returns the relocations that could not be applied in the sections read
// so far (Section.Data): one error for each section and relocation type. Its offset
// is that of the first field that was not relocated; its text has the number of such
// fields. Only relocatable objects have such losses.
func (f *File) RelocLosses() []error {
	f.reloc.mu.Lock()
	defer f.reloc.mu.Unlock()

	return f.reloc.losses[:len(f.reloc.losses):len(f.reloc.losses)]
}

// relocationSymbols reads the symbols that relocations refer to.
func relocationSymbols(f *File) (symbols []Symbol, err error) {
	// A fault must not leave the caller's Once done with neither symbols nor error.
	err = mem.Guard(func() error {
		s := f.byType(".symtab")
		if s == nil {
			return &located.Error{Section: ".symtab", Err: errRelocTable}
		}
		t, err := readSymtab(f, s)
		if err == nil {
			symbols, f.reloc.symtabFrom = t.Symbols, s.Index
		}
		return err
	})
	return symbols, err
}

// charge adds n to sum and reports whether sum is at most the size of the file.
// Sections that do not overlap cannot exceed that.
func charge(f *File, sum *uint64, n uint64) bool {
	f.reloc.mu.Lock()
	defer f.reloc.mu.Unlock()

	*sum += n
	return *sum <= uint64(len(f.data))
}

// applied returns the index of the first relocation section that applies to s, or 0.
func (s *Section) applied() int {
	if isRelocs(s.Type) {
		return 0 // relocs is a link in another section's list
	}
	return s.relocs
}

// relocatedData returns the section's uncompressed bytes with all relocations
// applied.
func (s *Section) relocatedData() (*mem.Buffer, error) {
	var data *mem.Buffer
	var err error
	if s.compressed() {
		data, err = s.decompress()
	} else {
		data, err = s.copied()
	}

	// Relocations apply to the uncompressed bytes, one relocation section after another. A section
	// that was released is relocated again, but counts once.
	for i := s.applied(); i != 0 && err == nil; {
		table := &s.file.Sections[i]
		err = applyTable(s, data.Bytes(), table)
		i = table.relocs
	}
	if err != nil {
		s.file.memory.put(data)
		return nil, err
	}
	s.paid = true
	return data, nil
}

// copied returns a copy of the section's bytes in the file.
func (s *Section) copied() (*mem.Buffer, error) {
	raw, err := s.raw()
	if err != nil {
		return nil, err
	}
	if !s.paid && !charge(s.file, &s.file.reloc.copied, s.Size) {
		return nil, &located.Error{Section: s.label(), Err: errOverlap}
	}
	data := s.file.memory.get(s.Size)
	copy(data.Bytes(), raw)
	return data, nil
}

// applyTable applies the relocations of one section to data. The error is about the
// whole relocation section; a single relocation that cannot be applied is a loss.
func applyTable(s *Section, data []byte, table *Section) error {
	// The symbol table is read once for all sections.
	f := s.file
	symbols, err := f.reloc.symbols()
	if err != nil {
		return err
	}
	if uint64(table.Link) != uint64(f.reloc.symtabFrom) {
		return &located.Error{Section: table.label(), Err: errRelocTable}
	}
	r, err := newRelocReader(table)
	if err != nil {
		return err
	}

	// Many headers could refer to the same relocations, each of them to be applied again.
	if !s.paid && !charge(f, &f.reloc.read, uint64(r.Len())) {
		return &located.Error{Section: table.label(), Err: errOverlap}
	}

	// Each relocation is read and applied in turn; the table is never decoded as a whole.
	target := reloc.Section{
		Machine: f.Machine, Class: f.Class, BigEndian: f.BigEndian,
		Data: data, Addr: s.Addr, InField: !r.addends,
		Symbol: func(index uint32) (reloc.Symbol, error) { return relocSymbol(f, symbols, index) },
	}
	var lost relocLosses
	for r.next() {
		if err := target.Apply((*reloc.Entry)(&r.last)); err != nil {
			lost.add(&r.last, err)
		}
	}
	if !s.paid {
		loseRelocs(f, s, lost)
	}
	return r.Err()
}

// lostRelocs counts the relocations of one type that failed with one error.
type lostRelocs struct {
	err   error
	kind  uint32
	at    uint64 // offset of the first field
	count int
}

// relocLosses are the losses of one section, by error and type.
type relocLosses []lostRelocs

// add counts a relocation that failed. The last element counts all further kinds.
func (all *relocLosses) add(r *Reloc, err error) {
	for i := range *all {
		if l := &(*all)[i]; l.err == err && l.kind == r.Type || i == maxRelocLosses {
			l.count++
			return
		}
	}
	*all = append(*all, lostRelocs{err, r.Type, r.Offset, 1})
}

// relocSymbol returns the symbol with an index in .symtab.
func relocSymbol(f *File, symbols []Symbol, index uint32) (out reloc.Symbol, err error) {
	if uint64(index) >= uint64(len(symbols)) {
		return out, errRelocSymbol
	}
	s := &symbols[index]
	out = reloc.Symbol{Value: s.Value, Size: s.Size, TLS: s.Type == elf.STT_TLS}

	// The section of a defined symbol has a base, which TLS relocations need.
	switch {
	case s.Shndx == ShnAbs:
	case s.Shndx == ShnUndef || s.Shndx >= ShnReserve:
		out.Value = 0 // in another file, or common and without an address
	case uint64(s.Shndx) >= uint64(len(f.Sections)):
		return out, errRelocSymbol
	default:
		out.Base = f.Sections[s.Shndx].Addr
	}
	return out, nil
}

// loseRelocs adds an error to RelocLosses for each kind of loss. The error after
// maxRelocLosses stands for all further kinds.
func loseRelocs(f *File, s *Section, lost relocLosses) {
	f.reloc.mu.Lock()
	defer f.reloc.mu.Unlock()

	for i, l := range lost {
		what := reloc.Name(f.Machine, l.kind)
		if i == maxRelocLosses {
			what += " and others"
		}

		err := fmt.Errorf("%w: %s (fields left as they are: %d)", l.err, what, l.count)
		at := int(min(l.at, uint64(s.Size)))
		f.reloc.losses = append(f.reloc.losses,
			fmt.Errorf("%s: %w", f.path, &located.Error{Section: s.label(), Offset: at, Err: err}))
	}
}
