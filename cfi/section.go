package cfi

import (
	"debug/elf"

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

// CIE has the fields that the FDEs that point to the CIE share (DWARF 5 §6.4.1, LSB 5.0
// core §10.6.1.1). FDEs share their CIE: do not change it.
type CIE struct {
	// Offset is the section offset of the CIE's length field.
	Offset       uint64
	Version      uint8
	Augmentation string
	// AddrSize is the size of an address in bytes. SegmentSize is the size of a segment
	// selector. Version 4 has both fields; in other versions they are the section's
	// address size and 0.
	AddrSize, SegmentSize int
	CodeAlign             uint64
	DataAlign             int64
	// RA is the column of the return address.
	RA Reg
	// Signal marks the frame of a signal trampoline ('S'): the PC in the frame is the
	// interrupted instruction, not a return address.
	Signal bool
	// BKey means that return addresses are signed with key B (AArch64 'B').
	BKey bool
	// MTE means that the stack is tagged (AArch64 'G').
	MTE bool
	// Personality is the personality routine of the language ('P').
	Personality Pointer
	// FDEEncoding and LSDAEncoding are the DW_EH_PE encodings of the addresses in FDEs
	// ('R') and of their LSDA pointers ('L'; 0xff means no pointer).
	FDEEncoding, LSDAEncoding uint8

	hasData  bool // 'z': FDEs have augmentation data
	initial  Row
	cfaOff   int64 // see machine
	offsetAt int   // see machine
}

// FDE describes how to unwind from the PCs in [Begin, End). It refers to the
// section's bytes.
type FDE struct {
	// Offset is the section offset of the FDE's length field.
	Offset uint64
	CIE    *CIE
	// Begin and End are addresses as in the file: virtual addresses, in an ET_REL file as
	// relocated.
	Begin, End uint64
	// RawBegin is the initial location as stored in the section, before its base was
	// applied. A value of 0 or of all ones (in the address size) marks the FDE of a
	// discarded function in some files; the caller decides whether it does in this file.
	RawBegin uint64
	// LSDA is the function's language-specific data.
	LSDA Pointer

	sec        *Section
	from, upto int // the instructions, as section offsets
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

// Pointer is an encoded pointer of a CIE or FDE that unwinding itself does not
// need.
type Pointer struct {
	// Addr is the virtual address of the pointer's target. With Indirect, Addr is the
	// address of the word that holds the target's address (as with
	// DW.ref.__gxx_personality_v0).
	Addr     uint64
	Indirect bool
	// Valid means that there is a pointer and that it is not null.
	Valid bool
}
