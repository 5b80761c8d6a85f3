package elfx

import (
	"debug/elf"
	"errors"
	"fmt"
	"sync"

	"symkit/internal/mem"
	"symkit/internal/wire"
)

// Why a section of a relocatable object, or one field in it, was not relocated.
var (
	// ErrRelocType: a type that no section with debug or unwind information
	// has on this machine, or any type on a machine that is not known.
	ErrRelocType = errors.New("unknown relocation type")
	// ErrRelocPlace: a field outside the section.
	ErrRelocPlace = errors.New("relocation outside the section")
	// ErrRelocSymbol: a symbol that is not in the table, or in a section that
	// there is not.
	ErrRelocSymbol = errors.New("relocation against a symbol that does not exist")
	// ErrRelocTable: relocations that do not belong to the file's symbol table.
	ErrRelocTable = errors.New("relocations without the symbol table")
	// ErrOverlap: sections or their relocations share bytes, which no tool
	// makes. Copying them could cost any amount of memory.
	ErrOverlap = errors.New("sections overlap")
)

// maxRelocLosses bounds the kinds of failure that are told apart in a section.
const maxRelocLosses = 16

// relocation is what relocating the sections of one file shares.
type relocation struct {
	symbols    func() ([]Symbol, error) // of .symtab, rebased; read once
	mu         sync.Mutex
	copied     uint64 // bytes of sections that were copied to relocate them
	read       uint64 // bytes of relocations that were read
	losses     []error
	symtabFrom int // index of .symtab
}

// RelocLosses lists the relocations that could not be applied in the sections
// read so far (Section.Data): one error for each section and relocation type,
// located at the first field that was left as it is, with the number of such
// fields. Only a relocatable object has any.
func (f *File) RelocLosses() []error {
	f.reloc.mu.Lock()
	defer f.reloc.mu.Unlock()
	return f.reloc.losses[:len(f.reloc.losses):len(f.reloc.losses)]
}

// prepareRelocation is called once the headers are read.
func (f *File) prepareRelocation() {
	f.layOut()
	f.findParts()
	f.linkRelocs()
	f.reloc.symbols = sync.OnceValues(func() (symbols []Symbol, err error) {
		// A fault must not leave the Once done with neither.
		err = mem.Guard(func() error {
			s := f.byType(".symtab")
			if s == nil {
				return &wire.Error{Section: ".symtab", Err: ErrRelocTable}
			}
			t, err := f.readSymtab(s)
			if err == nil {
				symbols, f.reloc.symtabFrom = t.Symbols, s.Index
			}
			return err
		})
		return symbols, err
	})
}

// charge counts n bytes against a budget of the file's size: sections that do
// not overlap cannot exceed it.
func (f *File) charge(sum *uint64, n uint64) bool {
	f.reloc.mu.Lock()
	defer f.reloc.mu.Unlock()
	*sum += n
	return *sum <= uint64(len(f.data))
}

// applied is the first section of relocations that apply to this one, or 0.
func (s *Section) applied() int {
	if s.Type == elf.SHT_REL || s.Type == elf.SHT_RELA {
		return 0 // relocs is a link of another section's list
	}
	return s.relocs
}

// relocatedData is the section's uncompressed bytes with its relocations
// applied.
func (s *Section) relocatedData() (*mem.Buffer, error) {
	var data *mem.Buffer
	var err error
	if s.compressed() {
		data, err = s.decompress()
	} else {
		data, err = s.copied()
	}
	for i := s.applied(); i != 0 && err == nil; {
		table := &s.file.Sections[i]
		err = s.applyTable(data.Bytes(), table)
		i = table.relocs
	}
	if err != nil {
		s.file.memory.put(data)
		return nil, err
	}
	return data, nil
}

func (s *Section) copied() (*mem.Buffer, error) {
	raw, err := s.raw()
	if err != nil {
		return nil, err
	}
	if !s.file.charge(&s.file.reloc.copied, s.Size) {
		return nil, &wire.Error{Section: s.label(), Err: ErrOverlap}
	}
	data := s.file.memory.get(s.Size)
	copy(data.Bytes(), raw)
	return data, nil
}

// applyTable applies one section of relocations to data. It fails when the
// table as a whole cannot be read; a single relocation that cannot be applied
// is counted as lost.
func (s *Section) applyTable(data []byte, table *Section) error {
	f := s.file
	symbols, err := f.reloc.symbols()
	if err != nil {
		return err
	}
	if uint64(table.Link) != uint64(f.reloc.symtabFrom) {
		return &wire.Error{Section: table.label(), Err: ErrRelocTable}
	}
	c, err := table.relocCursor()
	if err != nil {
		return err
	}
	if !f.charge(&f.reloc.read, uint64(c.Len())) {
		return &wire.Error{Section: table.label(), Err: ErrOverlap}
	}
	a := applier{
		file: f, symbols: symbols, data: data, addr: s.Addr,
		howtos: howtosOf(f.Machine), inField: table.Type == elf.SHT_REL,
	}
	var r Reloc
	for c.Len() > 0 {
		f.readReloc(&c, &r, !a.inField)
		if err := a.apply(&r); err != nil {
			a.lose(&r, err)
		}
	}
	f.loseRelocs(s, a.lost)
	return c.Err()
}

// lostRelocs are the relocations of one type that failed alike.
type lostRelocs struct {
	err   error
	kind  uint32
	at    uint64 // the first field
	count int
}

func (a *applier) lose(r *Reloc, err error) {
	for i := range a.lost {
		if l := &a.lost[i]; l.err == err && l.kind == r.Type || i == maxRelocLosses {
			l.count++
			return
		}
	}
	a.lost = append(a.lost, lostRelocs{err, r.Type, r.Offset, 1})
}

// loseRelocs turns what was lost in a section into errors. From the
// maxRelocLosses-th kind on, one stands for all further ones.
func (f *File) loseRelocs(s *Section, lost []lostRelocs) {
	f.reloc.mu.Lock()
	defer f.reloc.mu.Unlock()
	for i, l := range lost {
		what := relocName(f.Machine, l.kind)
		if i == maxRelocLosses {
			what += " and others"
		}
		err := fmt.Errorf("%w: %s (fields left as they are: %d)", l.err, what, l.count)
		at := int(min(l.at, uint64(s.Size)))
		f.reloc.losses = append(f.reloc.losses,
			fmt.Errorf("%s: %w", f.path, &wire.Error{Section: s.label(), Offset: at, Err: err}))
	}
}
