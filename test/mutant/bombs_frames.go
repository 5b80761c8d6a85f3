package mutant

import (
	"bytes"
	"debug/elf"
)

// frameBombs have unwind rules from several sources for the same code.
var frameBombs = []Bomb{
	{"the CFA of a procedure linkage table over 4 GB", wideLinkage},
	{"FDEs in one of SFrame with rows for each", func() []byte { return inSFrame(1<<16 - 1) }},
	{"a long FDE between many short ones", func() []byte {
		code := bytes.Repeat([]byte{0x41, 0x0e, 8, 0x41, 0x0e, 16}, 1<<14)
		return buildText(textSize<<4, []section{
			fdeSection(".eh_frame", 0, 1<<15, 2, 1, nil), fdeSection(".debug_frame", ^uint32(0), 1, 1, 1<<16, code),
		})
	}},
}

// fdeSection returns an .eh_frame if mark, which is the id of the CIE, is 0, and otherwise a
// .debug_frame. Its FDEs have size bytes of .text each, lie step bytes apart, and have the
// same code.
func fdeSection(name string, mark uint32, count int, step, size uint64, code []byte) section {
	cie := append(le.AppendUint32(nil, mark), 1, 0, 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1, 0, 0)
	data := append(le.AppendUint32(nil, uint32(len(cie))), cie...)
	for i := range uint64(count) {
		// The CIE pointer of .debug_frame is the CIE's offset, that of .eh_frame the
		// distance to the CIE.
		pointer := uint32(0)
		if mark == 0 {
			pointer = uint32(len(data) + 4)
		}
		fde := append(le.AppendUint32(nil, pointer), body(TextAddr+i*step, size)...)
		fde = append(fde, code...)
		data = append(append(data, le.AppendUint32(nil, uint32(len(fde)))...), fde...)
	}

	s := debug(name, data)
	// Only .eh_frame has a terminator, and is loaded.
	if mark == 0 {
		s.data = append(s.data, 0, 0, 0, 0)
		s.flags, s.addr = elf.SHF_ALLOC, 0x100000
	}
	return s
}

// oneSFrame returns an SFrame section of version 2. Its one FDE begins with .text, and the
// rows lie a byte apart.
func oneSFrame(size uint32, rows int) section {
	const addr = 0x80000000
	b := []byte{0xe2, 0xde, 2, 1, 3, 0, 0xf8, 0}
	for _, v := range []uint32{1, uint32(rows), uint32(rows) * 4, 0, 20} {
		b = le.AppendUint32(b, v)
	}

	// The function's start counts from the section.
	start := int32(TextAddr - addr)
	for _, v := range []uint32{uint32(start), size, 0, uint32(rows), 1} { // FRE start addresses of two bytes
		b = le.AppendUint32(b, v)
	}

	for i := range rows {
		b = append(le.AppendUint16(b, uint16(i)), 1<<1|1, byte(8+i%64)) // one offset of one byte, from the stack pointer
	}
	s := debug(".sframe", b)
	s.flags, s.addr = elf.SHF_ALLOC, addr
	return s
}

func wideLinkage() []byte {
	const size = 1<<32 - 16
	// breg7 8; breg16 0; lit15; and; lit11; ge; lit3; shl; plus
	expr := []byte{0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22}
	code := append([]byte{0x0f, byte(len(expr))}, expr...)
	return build(fdeSection(".eh_frame", 0, 1, 1, size, code), oneSFrame(size, 1))
}

func inSFrame(count int) []byte {
	return buildText(count, []section{fdeSection(".eh_frame", 0, count, 1, 1, nil), oneSFrame(uint32(count), count)})
}
