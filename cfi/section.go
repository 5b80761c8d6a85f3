package cfi

import (
	"debug/elf"
	"iter"

	"symkit/internal/wire"
)

// SectionKind is one of the two formats of call frame information. They differ in the
// mark of a CIE, in an FDE's pointer to its CIE, and in the encoding of pointers.
type SectionKind uint8

// The kinds of section.
const (
	// EHFrame is .eh_frame (LSB 5.0 core, §10.6).
	EHFrame SectionKind = iota
	// DebugFrame is .debug_frame (DWARF 5 §6.4).
	DebugFrame
)

// String returns the section's usual name.
func (k SectionKind) String() string {
	if k == DebugFrame {
		return ".debug_frame"
	}
	return ".eh_frame"
}

// Section is one section of call frame information, with the bases of its pointers.
// Reading does not change a Section: any number of goroutines can iterate at once.
type Section struct {
	Kind SectionKind
	// Name is the section's name in errors; if empty, it is Kind's usual name.
	Name string
	// Data is the section's contents, inflated and (ET_REL) relocated.
	Data []byte
	// Addr is the virtual address of Data[0]: the base of pc-relative pointers.
	Addr uint64
	// TextBase and DataBase are the bases of text-relative and data-relative
	// pointers: the virtual addresses of .text and of .got.
	TextBase, DataBase uint64
	// AddrSize is the size of an address in bytes: 4 (ELFCLASS32) or 8.
	AddrSize  int
	BigEndian bool
	// Machine decides the meaning of vendor-specific instructions.
	Machine elf.Machine
	// Deref reads the address-sized word at a virtual address, for indirect
	// pointers. It may be nil.
	Deref func(addr uint64) (uint64, bool)
}

// FDEs yields the FDEs in section order. A damaged FDE yields one *located.Error
// with the zero FDE, and then the next FDE follows. Only a damaged length of an entry
// ends the iteration, with an error. A CIE is read for its first FDE: a damaged CIE is
// an error of each of its FDEs, and a damaged CIE without FDEs is no error.
//
// A zero length, the terminator of .eh_frame, does not end the section: a linked file
// has a terminator in the middle if crtend.o, or the output of an `ld -r`, was not the
// linker's last input.
func (s *Section) FDEs() iter.Seq2[FDE, error] {
	return func(yield func(FDE, error) bool) {
		d := newDecoder(s)
		c := s.entries()
		for c.Len() > 0 {
			// An error of the section's cursor ends the loop; an error of the entry's
			// body skips the entry.
			e := s.entry(&c)
			switch {
			case c.Err() != nil:
			case e.body.Err() != nil:
				if !yield(FDE{}, e.body.Err()) {
					return
				}
			case e.kind == entryFDE:
				if !yield(d.fde(&e)) {
					return
				}
			}
		}
		if c.Err() != nil {
			yield(FDE{}, c.Err())
		}
	}
}

// name returns the section's name in errors.
func (s *Section) name() string {
	if s.Name != "" {
		return s.Name
	}
	return s.Kind.String()
}

func (s *Section) cursor() wire.Cursor {
	return wire.New(s.name(), s.Data, s.BigEndian)
}

// entries returns a cursor over the section's entries. The cursor has failed if AddrSize
// is unusable.
func (s *Section) entries() wire.Cursor {
	c := s.cursor()

	// Later code shifts and reads by the address size, so the size is checked once here.
	if !validAddrSize(s.AddrSize) {
		c.Fail(0, errAddrSize)
	}
	return c
}

func validAddrSize(n int) bool { return n == 2 || n == 4 || n == 8 }

// mask returns the bits of v that an address of size bytes has.
func mask(v uint64, size int) uint64 {
	if size >= 8 {
		return v
	}
	return v & (1<<(8*size) - 1)
}
