// Package elftest builds ELF files for tests.
package elftest

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"symkit/located"
)

// Plain returns the Spec of a small file with sections and segments.
func Plain(class elf.Class, big bool) *Spec {
	s := &Spec{Class: class, Big: big, Machine: elf.EM_PPC64, Flags: 2}
	s.Sections = []Sec{
		{Name: ".text", Kind: elf.SHT_PROGBITS, Flags: elf.SHF_ALLOC | elf.SHF_EXECINSTR, Align: 16, Data: bytes.Repeat([]byte{0x90}, 40)},
		{Name: ".note.gnu.build-id", Kind: elf.SHT_NOTE, Flags: elf.SHF_ALLOC, Align: 4},
		{Name: ".bss", Kind: elf.SHT_NOBITS, Flags: elf.SHF_ALLOC, Size: 100},
		{Name: ".debug_info", Kind: elf.SHT_PROGBITS, Data: []byte("hello")},
		{Name: ".debug_str", Kind: elf.SHT_PROGBITS},
	}
	s.Class = class
	s.Sections[1].Data = s.NoteBytes("GNU", 3, []byte("0123456789abcdefghij"), 4)
	s.Segments = []Seg{{Kind: elf.PT_LOAD, Flags: elf.PF_R | elf.PF_X}, {Kind: elf.PT_NOTE, Section: ".note.gnu.build-id"}}
	return s
}

// Chdr returns a stream with a compression header before it.
func (s *Spec) Chdr(kind elf.CompressionType, size uint64, stream []byte) []byte {
	e := s.Enc()
	e.U32(uint32(kind))
	if e.Wide {
		e.U32(0)
	}
	e.Word(size, 1)
	return append(e.B, stream...)
}

// Sym appends one symbol table entry.
func (e *Enc) Sym(name uint32, value, size uint64, info, other uint8, shndx uint16) *Enc {
	e.U32(name)
	if e.Wide {
		return e.U8(info, other).U16(shndx).U64(value, size)
	}
	return e.U32(uint32(value), uint32(size)).U8(info, other).U16(shndx)
}

func (s *Spec) RelocInfo(sym, kind uint64) uint64 {
	if s.Class == elf.ELFCLASS32 {
		return sym<<8 | kind
	}
	return sym<<32 | kind
}

// LinkSection returns a .gnu_debuglink.
func (s *Spec) LinkSection(name string, crc uint32) Sec {
	e := s.Enc()
	e.B = append(append(e.B, name...), 0)
	for len(e.B)%4 != 0 {
		e.B = append(e.B, 0)
	}
	return Sec{Name: ".gnu_debuglink", Kind: elf.SHT_PROGBITS, Data: e.U32(crc).B}
}

// DebugSpec returns the debug file of Plain: all loaded sections are SHT_NOBITS, except
// the build id.
func DebugSpec(class elf.Class, big bool) *Spec {
	s := Plain(class, big)
	s.Sections[0].Kind, s.Sections[0].Size, s.Sections[0].Data = elf.SHT_NOBITS, 40, nil
	s.Sections = append(s.Sections, Sec{Name: ".eh_frame", Kind: elf.SHT_NOBITS, Flags: elf.SHF_ALLOC, Size: 4},
		Sec{Name: ".debug_frame", Kind: elf.SHT_PROGBITS, Data: []byte("debug")})
	return s
}

// StrippedSpec returns Plain without debug information.
func StrippedSpec(class elf.Class, big bool) *Spec {
	s := Plain(class, big)
	s.Sections = append(s.Sections[:3:3], Sec{Name: ".eh_frame", Kind: elf.SHT_PROGBITS, Flags: elf.SHF_ALLOC, Data: []byte("unwind")})
	return s
}

func Write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// Spec describes an ELF file; Build makes the file.
type Spec struct {
	Class    elf.Class // default ELFCLASS64
	Big      bool
	Kind     elf.Type // default ET_DYN
	Machine  elf.Machine
	Flags    uint32
	Sections []Sec // the null section and .shstrtab are added
	Segments []Seg

	NoSections bool // leave the section header table out
	Extended   bool // counts and the string index in section header 0
}

// Sec is a section. With SHF_ALLOC, it is loaded at LoadBase plus its file offset, except
// in a relocatable object.
type Sec struct {
	Name    string
	Kind    elf.SectionType
	Flags   elf.SectionFlag
	Link    string
	Info    uint32
	Entsize uint64
	Align   uint64
	Size    uint64 // for SHT_NOBITS
	Data    []byte
}

// Seg is a segment that covers a section, or the whole file.
type Seg struct {
	Kind    elf.ProgType
	Flags   elf.ProgFlag
	Section string
}

const LoadBase = 0x400000

// Placed has the positions that Layout chose.
type Placed struct {
	Data               []byte
	Shoff, Phoff       int
	Shnum, Phnum       int
	Shentsize, Phsize  int
	Offset, Size, Addr map[string]uint64
	Index              map[string]int
}

func (s *Spec) Order() binary.AppendByteOrder {
	if s.Big {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// Enc appends numbers in the byte order of the file.
type Enc struct {
	B    []byte
	O    binary.AppendByteOrder
	Wide bool
}

func (e *Enc) U16(v ...uint16) *Enc {
	for _, x := range v {
		e.B = e.O.AppendUint16(e.B, x)
	}
	return e
}

func (e *Enc) U32(v ...uint32) *Enc {
	for _, x := range v {
		e.B = e.O.AppendUint32(e.B, x)
	}
	return e
}

func (e *Enc) U64(v ...uint64) *Enc {
	for _, x := range v {
		e.B = e.O.AppendUint64(e.B, x)
	}
	return e
}

// Word appends numbers of the size of the class.
func (e *Enc) Word(v ...uint64) *Enc {
	for _, x := range v {
		if e.Wide {
			e.U64(x)
		} else {
			e.U32(uint32(x))
		}
	}
	return e
}

func (e *Enc) U8(v ...uint8) *Enc {
	e.B = append(e.B, v...)
	return e
}

func (s *Spec) Enc() *Enc { return &Enc{O: s.Order(), Wide: s.Class != elf.ELFCLASS32} }

func (s *Spec) Layout() *Placed {
	// The default is a shared library for x86-64.
	if s.Class == 0 {
		s.Class = elf.ELFCLASS64
	}
	if s.Kind == 0 {
		s.Kind = elf.ET_DYN
	}
	if s.Machine == 0 {
		s.Machine = elf.EM_X86_64
	}
	l := &Placed{Shentsize: 64, Phsize: 56, Offset: map[string]uint64{},
		Size: map[string]uint64{}, Addr: map[string]uint64{}, Index: map[string]int{}}
	ehsize := 64
	if s.Class == elf.ELFCLASS32 {
		l.Shentsize, l.Phsize, ehsize = 40, 32, 52
	}

	// The null section comes first, .shstrtab last.
	all := append([]Sec{{}}, s.Sections...)
	names := []byte{0}
	nameOff := make([]int, len(all)+1)
	for i := range all {
		if all[i].Name != "" {
			nameOff[i] = len(names)
			names = append(append(names, all[i].Name...), 0)
		}
	}
	if !s.NoSections {
		nameOff[len(all)] = len(names)
		names = append(names, ".shstrtab\x00"...)
		all = append(all, Sec{Name: ".shstrtab", Kind: elf.SHT_STRTAB, Data: names})
	}

	// Program headers follow the ELF header.
	l.Phnum = len(s.Segments)
	if l.Phnum > 0 {
		l.Phoff = ehsize
	}
	body := make([]byte, ehsize+l.Phnum*l.Phsize)
	pad := func() {
		for len(body)%16 != 0 {
			body = append(body, 0)
		}
	}

	// The sections follow, each at a multiple of 16.
	for i := range all {
		sc := &all[i]
		l.Index[sc.Name] = i
		if i == 0 {
			continue
		}

		pad()
		l.Offset[sc.Name] = uint64(len(body))
		l.Addr[sc.Name] = LoadBase + uint64(len(body))
		l.Size[sc.Name] = uint64(len(sc.Data))
		if sc.Kind == elf.SHT_NOBITS {
			l.Size[sc.Name] = sc.Size
		}
		body = append(body, sc.Data...)
	}

	// The section headers are at the end.
	if !s.NoSections {
		pad()
		l.Shoff, l.Shnum = len(body), len(all)
		body = append(body, s.SectionHeaders(l, all, nameOff)...)
	}

	// The ELF header and the program headers contain the positions of all else.
	copy(body, s.Header(l))
	copy(body[ehsize:], s.ProgramHeaders(l, uint64(len(body))))
	l.Data = body
	return l
}

func (s *Spec) SectionHeaders(l *Placed, all []Sec, nameOff []int) []byte {
	e := s.Enc()
	for i, sc := range all {
		var addr uint64
		if sc.Flags&elf.SHF_ALLOC != 0 && s.Kind != elf.ET_REL {
			addr = l.Addr[sc.Name]
		}
		size, link, info := l.Size[sc.Name], uint32(l.Index[sc.Link]), sc.Info
		if sc.Link == "" {
			link = 0
		}

		// With Extended, section header 0 has the counts (gABI, "ELF Header": e_shnum,
		// e_shstrndx; PN_XNUM).
		if i == 0 && s.Extended {
			size, link, info = uint64(len(all)), uint32(len(all)-1), uint32(l.Phnum)
		}
		e.U32(uint32(nameOff[i]), uint32(sc.Kind)).Word(uint64(sc.Flags), addr, l.Offset[sc.Name], size)
		e.U32(link, info).Word(sc.Align, sc.Entsize)
	}
	return e.B
}

func (s *Spec) ProgramHeaders(l *Placed, fileSize uint64) []byte {
	e := s.Enc()
	for _, g := range s.Segments {
		off, addr, size := l.Offset[g.Section], l.Addr[g.Section], l.Size[g.Section]
		if g.Section == "" {
			off, addr, size = 0, LoadBase, fileSize
		}

		// The position of p_flags depends on the class.
		e.U32(uint32(g.Kind))
		if e.Wide {
			e.U32(uint32(g.Flags))
		}
		e.Word(off, addr, addr, size, size)
		if !e.Wide {
			e.U32(uint32(g.Flags))
		}
		e.Word(4)
	}
	return e.B
}

func (s *Spec) Header(l *Placed) []byte {
	e := s.Enc()
	order := elf.ELFDATA2LSB
	if s.Big {
		order = elf.ELFDATA2MSB
	}
	e.B = append(e.B, 0x7f, 'E', 'L', 'F', byte(s.Class), byte(order), 1)
	e.B = append(e.B, make([]byte, 9)...)
	e.U16(uint16(s.Kind), uint16(s.Machine)).U32(1).Word(LoadBase+0x1000, uint64(l.Phoff), uint64(l.Shoff))
	shnum, shstrndx, phnum := uint16(l.Shnum), uint16(max(l.Shnum-1, 0)), uint16(l.Phnum)

	// The escape values refer to section header 0.
	if s.Extended {
		shnum, shstrndx, phnum = 0, 0xffff, 0xffff
	}
	ehsize := uint16(64)
	if s.Class == elf.ELFCLASS32 {
		ehsize = 52
	}
	e.U32(s.Flags).U16(ehsize, uint16(l.Phsize), phnum, uint16(l.Shentsize), shnum, shstrndx)
	return e.B
}

func (s *Spec) Build() []byte { return s.Layout().Data }

// WantError fails the test if an error has another sentinel, section or offset.
func WantError(t *testing.T, err, sentinel error, section string, offset int) {
	t.Helper()
	e, ok := errors.AsType[*located.Error](err)
	if !ok || !errors.Is(err, sentinel) || e.Section != section || e.Offset != offset {
		t.Errorf("error %v\nwant %s+%#x: %v", err, section, offset, sentinel)
	}
}

// EveryKind runs fn for both classes and both byte orders.
func EveryKind(t *testing.T, fn func(t *testing.T, class elf.Class, big bool)) {
	for _, class := range []elf.Class{elf.ELFCLASS32, elf.ELFCLASS64} {
		for _, big := range []bool{false, true} {
			t.Run(fmt.Sprintf("%v/big=%v", class, big), func(t *testing.T) { fn(t, class, big) })
		}
	}
}

// NoteBytes returns one note, whose name and descriptor are padded to align.
func (s *Spec) NoteBytes(name string, kind uint32, desc []byte, align int) []byte {
	e := s.Enc()
	e.U32(uint32(len(name)+1), uint32(len(desc)), kind)
	e.B = append(append(e.B, name...), 0)
	for len(e.B)%align != 0 {
		e.B = append(e.B, 0)
	}
	e.B = append(e.B, desc...)
	for len(e.B)%align != 0 {
		e.B = append(e.B, 0)
	}
	return e.B
}

// WantPlace fails the test if an error has no offset inside a section of the given size.
func WantPlace(t *testing.T, err error, size int) {
	t.Helper()
	if e, ok := errors.AsType[*located.Error](err); !ok || e.Section == "" || e.Offset < 0 || e.Offset > size {
		t.Fatalf("error without a place: %v", err)
	}
}

// SupSpec returns a program with a .debug_sup (DWARF 5 §7.3.6).
func SupSpec(class elf.Class, big bool, supplementary byte, path, sum string) *Spec {
	s := &Spec{Class: class, Big: big, Machine: elf.EM_PPC64}
	e := s.Enc()
	data := append(e.U16(5).B, supplementary)
	data = append(append(data, path...), 0, byte(len(sum)))
	s.Sections = []Sec{{Name: ".debug_sup", Kind: elf.SHT_PROGBITS, Data: append(data, sum...)}}
	return s
}
