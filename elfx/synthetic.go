package elfx

import (
	"debug/elf"
	"errors"

	"symkit/internal/wire"
	"symkit/located"
)

// errPointer: the pointer to .eh_frame in .eh_frame_hdr has an encoding that no
// linker uses for it, or refers to bytes outside the file.
var errPointer = errors.New("unusable pointer to .eh_frame")

const (
	dynamicName    = ".dynamic"
	ehFrameName    = ".eh_frame"
	ehFrameHdrName = ".eh_frame_hdr"
	sframeName     = ".sframe"
	exidxName      = ".ARM.exidx"
	extabName      = ".ARM.extab"
	// ptARMExidx is the segment type of .ARM.exidx (EHABI32 §5, PT_ARM_EXIDX). The
	// meaning of the number depends on the processor.
	ptARMExidx = elf.ProgType(0x70000001)
)

// synthesize makes sections from program headers, for a file without section
// headers.
func synthesize(f *File) {
	// Each of these segments begins with the bytes of one section.
	for _, known := range []struct {
		segment elf.ProgType
		name    string
		kind    elf.SectionType
	}{
		{elf.PT_DYNAMIC, dynamicName, elf.SHT_DYNAMIC},
		{ptGNUSFrame, sframeName, shtGNUSFrame},
		{elf.PT_GNU_EH_FRAME, ehFrameHdrName, elf.SHT_PROGBITS},
	} {
		if s := segmentOf(f, known.segment); s != nil && f.holdsLoaded {
			addSynthetic(f, known.name, known.kind, s.Vaddr, s.Offset, s.Filesz)
		}
	}

	if f.Machine == elf.EM_ARM && f.holdsLoaded {
		synthesizeExidx(f)
	}

	// .eh_frame has no segment of its own, but .eh_frame_hdr points to it.
	hdr := find(f.synthetic, func(s *Section) bool { return s.Name == ehFrameHdrName })
	if hdr == nil {
		return
	}
	if err := synthesizeEhFrame(f, hdr); err != nil {
		f.lose(err)
	}
}

// synthesizeExidx makes the sections of ARM's unwind tables. No header locates
// .ARM.extab. Linkers put it before .ARM.exidx, whose entries point into it, so the
// segment's bytes before .ARM.exidx are used as .ARM.extab.
func synthesizeExidx(f *File) {
	x := segmentOf(f, ptARMExidx)
	if x == nil {
		return
	}
	addSynthetic(f, exidxName, elf.SHT_PROGBITS, x.Vaddr, x.Offset, x.Filesz)
	if s := find(f.Segments, func(s *Segment) bool { return s.inFile(x.Vaddr) }); s != nil {
		addSynthetic(f, extabName, elf.SHT_PROGBITS, s.Vaddr, s.Offset, x.Vaddr-s.Vaddr)
	}
}

// addSynthetic adds a section of size bytes at virtual address addr, file offset off.
func addSynthetic(f *File, name string, kind elf.SectionType, addr, off, size uint64) {
	f.synthetic = append(f.synthetic, Section{
		Name: name, Index: -1, Type: kind, Flags: elf.SHF_ALLOC,
		Addr: addr, Offset: off, Size: size, file: f,
	})
}

// synthesizeEhFrame adds the .eh_frame that .eh_frame_hdr points to (LSB Core,
// "The .eh_frame_hdr section").
func synthesizeEhFrame(f *File, hdr *Section) error {
	data, err := hdr.raw()
	if err != nil {
		return err
	}

	// The header: version, three encodings, then the pointer.
	c := f.cursor(ehFrameHdrName, data)
	c.Skip(1) // version
	enc := c.U8()
	c.Skip(2) // the encodings of the table
	addr := f.encodedPointer(&c, enc, hdr.Addr)
	if c.Err() != nil {
		return c.Err()
	}

	// The pointer must lead to loaded bytes of the file.
	s := find(f.Segments, func(s *Segment) bool { return s.inFile(addr) })
	rest := f.bytesFrom(addr)
	if s == nil || len(rest) == 0 {
		return &located.Error{Section: ehFrameHdrName, Offset: 4, Err: errPointer}
	}
	addSynthetic(f, ehFrameName, elf.SHT_PROGBITS, addr, s.Offset+addr-s.Vaddr, f.ehFrameSize(rest))
	return nil
}

// encodedPointer reads a pointer in a DW_EH_PE encoding (LSB Core, "DWARF
// Exception Header Encoding"), relative to itself or to the section at base.
func (h *Header) encodedPointer(c *wire.Cursor, enc uint8, base uint64) uint64 {
	at := c.Pos()
	var v uint64

	// The low half byte of the encoding is the format, the high half the base.
	switch enc & 0x0f {
	case 0x00: // absptr
		v = c.Uint(h.AddrSize())
	case 0x02: // udata2
		v = uint64(c.U16())
	case 0x0a: // sdata2
		v = uint64(int64(int16(c.U16())))
	case 0x03: // udata4
		v = uint64(c.U32())
	case 0x0b: // sdata4
		v = uint64(int64(int32(c.U32())))
	case 0x04, 0x0c: // udata8, sdata8
		v = c.U64()
	default:
		c.Fail(at, errPointer)
	}

	switch enc & 0xf0 {
	case 0x00: // absolute
	case 0x10: // pcrel
		v += base + uint64(at)
	case 0x30: // datarel
		v += base
	default:
		c.Fail(at, errPointer)
	}

	if h.AddrSize() == 4 {
		v &= 0xffffffff
	}
	return v
}

// ehFrameSize returns the size of .eh_frame, whose only end mark is its terminator:
// entries follow each other up to and including a length of 0, or up to a length
// that exceeds the data.
func (h *Header) ehFrameSize(data []byte) uint64 {
	c := h.cursor(ehFrameName, data)

	// A damaged length ends the section before its entry.
	for end := 0; ; end = c.Pos() {
		length, _ := c.InitialLength()
		if length == 0 && c.Err() == nil {
			return uint64(c.Pos())
		}
		c.Skip(length)
		if c.Err() != nil {
			return uint64(end)
		}
	}
}
