package elfx

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"testing"

	"symkit/internal/wire"
)

// spec is the text twin of an ELF file; build makes the file.
type spec struct {
	class    elf.Class // default ELFCLASS64
	big      bool
	kind     elf.Type // default ET_DYN
	machine  elf.Machine
	flags    uint32
	sections []sec // the null section and .shstrtab are added
	segments []seg

	noSections bool // leave the section header table out
	extended   bool // counts and the string index in section header 0
}

// sec is a section. With SHF_ALLOC it is loaded at loadBase plus its file
// offset, except in a relocatable object.
type sec struct {
	name    string
	kind    elf.SectionType
	flags   elf.SectionFlag
	link    string
	info    uint32
	entsize uint64
	align   uint64
	size    uint64 // for SHT_NOBITS
	data    []byte
}

// seg is a segment over a section, or over the whole file.
type seg struct {
	kind    elf.ProgType
	flags   elf.ProgFlag
	section string
}

const loadBase = 0x400000

// layout is where build put things.
type layout struct {
	data               []byte
	shoff, phoff       int
	shnum, phnum       int
	shentsize, phsize  int
	offset, size, addr map[string]uint64
	index              map[string]int
}

func (s *spec) order() binary.AppendByteOrder {
	if s.big {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// enc appends numbers in the file's order.
type enc struct {
	b    []byte
	o    binary.AppendByteOrder
	wide bool
}

func (e *enc) u16(v ...uint16) *enc {
	for _, x := range v {
		e.b = e.o.AppendUint16(e.b, x)
	}
	return e
}

func (e *enc) u32(v ...uint32) *enc {
	for _, x := range v {
		e.b = e.o.AppendUint32(e.b, x)
	}
	return e
}

func (e *enc) u64(v ...uint64) *enc {
	for _, x := range v {
		e.b = e.o.AppendUint64(e.b, x)
	}
	return e
}

// word appends numbers of the class's size.
func (e *enc) word(v ...uint64) *enc {
	for _, x := range v {
		if e.wide {
			e.u64(x)
		} else {
			e.u32(uint32(x))
		}
	}
	return e
}

func (e *enc) u8(v ...uint8) *enc {
	e.b = append(e.b, v...)
	return e
}

func (s *spec) enc() *enc { return &enc{o: s.order(), wide: s.class != elf.ELFCLASS32} }

func (s *spec) layout() *layout {
	if s.class == 0 {
		s.class = elf.ELFCLASS64
	}
	if s.kind == 0 {
		s.kind = elf.ET_DYN
	}
	if s.machine == 0 {
		s.machine = elf.EM_X86_64
	}
	l := &layout{shentsize: 64, phsize: 56, offset: map[string]uint64{},
		size: map[string]uint64{}, addr: map[string]uint64{}, index: map[string]int{}}
	ehsize := 64
	if s.class == elf.ELFCLASS32 {
		l.shentsize, l.phsize, ehsize = 40, 32, 52
	}
	all := append([]sec{{}}, s.sections...)
	names := []byte{0}
	nameOff := make([]int, len(all)+1)
	for i := range all {
		if all[i].name != "" {
			nameOff[i] = len(names)
			names = append(append(names, all[i].name...), 0)
		}
	}
	if !s.noSections {
		nameOff[len(all)] = len(names)
		names = append(names, ".shstrtab\x00"...)
		all = append(all, sec{name: ".shstrtab", kind: elf.SHT_STRTAB, data: names})
	}
	l.phnum = len(s.segments)
	if l.phnum > 0 {
		l.phoff = ehsize
	}
	body := make([]byte, ehsize+l.phnum*l.phsize)
	pad := func() {
		for len(body)%16 != 0 {
			body = append(body, 0)
		}
	}
	for i := range all {
		sc := &all[i]
		l.index[sc.name] = i
		if i == 0 {
			continue
		}
		pad()
		l.offset[sc.name] = uint64(len(body))
		l.addr[sc.name] = loadBase + uint64(len(body))
		l.size[sc.name] = uint64(len(sc.data))
		if sc.kind == elf.SHT_NOBITS {
			l.size[sc.name] = sc.size
		}
		body = append(body, sc.data...)
	}
	if !s.noSections {
		pad()
		l.shoff, l.shnum = len(body), len(all)
		body = append(body, s.sectionHeaders(l, all, nameOff)...)
	}
	copy(body, s.header(l))
	copy(body[ehsize:], s.programHeaders(l, uint64(len(body))))
	l.data = body
	return l
}

func (s *spec) sectionHeaders(l *layout, all []sec, nameOff []int) []byte {
	e := s.enc()
	for i, sc := range all {
		var addr uint64
		if sc.flags&elf.SHF_ALLOC != 0 && s.kind != elf.ET_REL {
			addr = l.addr[sc.name]
		}
		size, link, info := l.size[sc.name], uint32(l.index[sc.link]), sc.info
		if sc.link == "" {
			link = 0
		}
		if i == 0 && s.extended {
			size, link, info = uint64(len(all)), uint32(len(all)-1), uint32(l.phnum)
		}
		e.u32(uint32(nameOff[i]), uint32(sc.kind)).word(uint64(sc.flags), addr, l.offset[sc.name], size)
		e.u32(link, info).word(sc.align, sc.entsize)
	}
	return e.b
}

func (s *spec) programHeaders(l *layout, fileSize uint64) []byte {
	e := s.enc()
	for _, g := range s.segments {
		off, addr, size := l.offset[g.section], l.addr[g.section], l.size[g.section]
		if g.section == "" {
			off, addr, size = 0, loadBase, fileSize
		}
		e.u32(uint32(g.kind))
		if e.wide {
			e.u32(uint32(g.flags))
		}
		e.word(off, addr, addr, size, size)
		if !e.wide {
			e.u32(uint32(g.flags))
		}
		e.word(4)
	}
	return e.b
}

func (s *spec) header(l *layout) []byte {
	e := s.enc()
	order := elf.ELFDATA2LSB
	if s.big {
		order = elf.ELFDATA2MSB
	}
	e.b = append(e.b, 0x7f, 'E', 'L', 'F', byte(s.class), byte(order), 1)
	e.b = append(e.b, make([]byte, 9)...)
	e.u16(uint16(s.kind), uint16(s.machine)).u32(1).word(loadBase+0x1000, uint64(l.phoff), uint64(l.shoff))
	shnum, shstrndx, phnum := uint16(l.shnum), uint16(max(l.shnum-1, 0)), uint16(l.phnum)
	if s.extended {
		shnum, shstrndx, phnum = 0, 0xffff, 0xffff
	}
	ehsize := uint16(64)
	if s.class == elf.ELFCLASS32 {
		ehsize = 52
	}
	e.u32(s.flags).u16(ehsize, uint16(l.phsize), phnum, uint16(l.shentsize), shnum, shstrndx)
	return e.b
}

func (s *spec) build() []byte { return s.layout().data }

// mustFile parses a file that has to be good.
func mustFile(t testing.TB, data []byte) *File {
	t.Helper()
	f, err := NewFile("test.elf", data)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// wantError compares an error's sentinel, section and offset.
func wantError(t *testing.T, err, sentinel error, section string, offset int) {
	t.Helper()
	e, ok := errors.AsType[*wire.Error](err)
	if !ok || !errors.Is(err, sentinel) || e.Section != section || e.Offset != offset {
		t.Errorf("error %v\nwant %s+%#x: %v", err, section, offset, sentinel)
	}
}

// everyKind runs fn for both classes and both byte orders.
func everyKind(t *testing.T, fn func(t *testing.T, class elf.Class, big bool)) {
	for _, class := range []elf.Class{elf.ELFCLASS32, elf.ELFCLASS64} {
		for _, big := range []bool{false, true} {
			t.Run(fmt.Sprintf("%v/big=%v", class, big), func(t *testing.T) { fn(t, class, big) })
		}
	}
}

// noteBytes is one note record, padded to align.
func (s *spec) noteBytes(name string, kind uint32, desc []byte, align int) []byte {
	e := s.enc()
	e.u32(uint32(len(name)+1), uint32(len(desc)), kind)
	e.b = append(append(e.b, name...), 0)
	for len(e.b)%align != 0 {
		e.b = append(e.b, 0)
	}
	e.b = append(e.b, desc...)
	for len(e.b)%align != 0 {
		e.b = append(e.b, 0)
	}
	return e.b
}

// wantPlace asks for an error inside a section of the given size.
func wantPlace(t *testing.T, err error, size int) {
	t.Helper()
	if e, ok := errors.AsType[*wire.Error](err); !ok || e.Section == "" || e.Offset < 0 || e.Offset > size {
		t.Fatalf("error without a place: %v", err)
	}
}
