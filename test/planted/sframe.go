package planted

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"slices"
)

// SFrame is an ELF file with one defect in its .sframe or .eh_frame section.
type SFrame struct {
	Kind  string // what was done
	Cause string // that symcheck has to name
	Data  []byte
}

// SFrames makes a file of each kind of defect that has a place in an ELF file: a library whose .sframe,
// of version 2 or 3, has one header and is right.
func SFrames(data []byte) (all []SFrame) {
	for _, k := range sframeKinds {
		s := readSFrame(data)
		if s != nil && k.plant(s) {
			all = append(all, SFrame{k.name, k.cause, s.write()})
		}
	}
	return all
}

// sframeFile is an ELF file whose .sframe section can be changed.
type sframeFile struct {
	elf    []byte
	order  binary.ByteOrder
	header int // offset of the section header in elf
	addr   uint64
	chunks []sframeChunk
	code   [2]uint64 // of .text
	frames [2]int    // of .eh_frame in elf
	// framesAddr is the address of .eh_frame.
	framesAddr uint64
}

// sframeChunk is a header with its functions.
type sframeChunk struct {
	head    [28]byte // as it is stored; counts and offsets are written anew
	version byte
	flags   byte
	funcs   []sframeFunc
	magic   uint16
	fres    int // to add to the number of rows in the header
}

// sframeFunc is an FDE with its rows as they are stored.
type sframeFunc struct {
	start   uint64
	zero    bool // the start field is 0
	size    uint32
	fres    uint32
	info    byte
	info2   byte
	rep     byte
	rows    []byte
	rowsOff uint32 // to add to the offset of the rows
}

// readSFrame reads the section; nil if the file has none of a form that is known here.
func readSFrame(data []byte) *sframeFile {
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		return nil
	}
	sec, text, frames := f.Section(".sframe"), f.Section(".text"), f.Section(".eh_frame")
	if sec == nil || text == nil || frames == nil {
		return nil
	}
	s := &sframeFile{elf: bytes.Clone(data), order: f.ByteOrder, addr: sec.Addr, code: [2]uint64{text.Addr, text.Addr + text.Size},
		frames: [2]int{int(frames.Offset), int(frames.Offset + frames.Size)}, framesAddr: frames.Addr}
	const headerSize, shoffAt = 64, 40
	s.header = int(s.order.Uint64(data[shoffAt:])) + headerSize*slices.Index(f.Sections, sec)
	raw, err := sec.Data()
	if err != nil || len(raw) < 28 || raw[2] < 2 {
		return nil
	}

	c := sframeChunk{version: raw[2], flags: raw[3], magic: 0xdee2}
	copy(c.head[:], raw)
	num := int(s.order.Uint32(raw[8:]))
	base := 28 + int(s.order.Uint32(raw[24:]))
	end := base + int(s.order.Uint32(raw[16:]))
	var offs []int
	for i := range num {
		var x sframeFunc
		if c.version == 3 {
			at := 28 + 16*i
			x.start = s.addr + uint64(at) + s.order.Uint64(raw[at:])
			x.size = s.order.Uint32(raw[at+8:])
			offs = append(offs, base+int(s.order.Uint32(raw[at+12:])))
		} else {
			at := 28 + 20*i
			anchor := s.addr
			if c.flags&4 != 0 {
				anchor += uint64(at)
			}
			x.start = anchor + uint64(int64(int32(s.order.Uint32(raw[at:]))))
			x.size = s.order.Uint32(raw[at+4:])
			offs = append(offs, base+int(s.order.Uint32(raw[at+8:])))
			x.fres, x.info, x.rep = s.order.Uint32(raw[at+12:]), raw[at+16], raw[at+17]
		}
		c.funcs = append(c.funcs, x)
	}

	// The rows of a function end where those of another one begin.
	for i := range c.funcs {
		x, stop := &c.funcs[i], end
		for _, off := range offs {
			if off > offs[i] {
				stop = min(stop, off)
			}
		}
		x.rows = bytes.Clone(raw[offs[i]:stop])
		if c.version == 3 {
			x.fres, x.info, x.info2, x.rep = uint32(s.order.Uint16(x.rows)), x.rows[2], x.rows[3], x.rows[4]
			x.rows = x.rows[5:]
		}
	}
	s.chunks = []sframeChunk{c}
	return s
}

// write returns the file with the section at its end, at the same address.
func (s *sframeFile) write() []byte {
	var section []byte
	for i := range s.chunks {
		for len(section)%8 != 0 {
			section = append(section, 0)
		}
		section = s.chunks[i].append(section, s.addr, s.order)
	}
	return withSection(s.elf, s.header, s.order, section)
}

// WithSFrame returns a library, which has an .sframe section, with other contents of the section.
func WithSFrame(data, section []byte) []byte {
	s := readSFrame(data)
	return withSection(s.elf, s.header, s.order, section)
}

// withSection returns an ELF file with other contents of the section whose header is at an offset.
func withSection(data []byte, header int, order binary.ByteOrder, section []byte) []byte {
	for len(data)%8 != 0 {
		data = append(data, 0)
	}
	order.PutUint64(data[header+24:], uint64(len(data)))
	order.PutUint64(data[header+32:], uint64(len(section)))
	return append(data, section...)
}

// append appends the chunk to a section.
func (c *sframeChunk) append(section []byte, addr uint64, order binary.ByteOrder) []byte {
	at := len(section)
	entry := 16
	if c.version == 2 {
		entry = 20
	}
	section = append(section, c.head[:]...)
	section = append(section, make([]byte, entry*len(c.funcs))...)
	base, fres := len(section), uint32(0)
	for i := range c.funcs {
		x := &c.funcs[i]
		off := uint32(len(section)-base) + x.rowsOff
		fres += x.fres
		field := at + 28 + entry*i
		anchor := addr + uint64(field)
		if c.version == 2 && c.flags&4 == 0 && c.flags&1 != 0 {
			anchor = addr + uint64(at)
		}
		value := x.start - anchor
		if x.zero {
			value = 0
		}
		if c.version == 3 {
			order.PutUint64(section[field:], value)
			order.PutUint32(section[field+8:], x.size)
			order.PutUint32(section[field+12:], off)
			section = append(section, 0, 0, x.info, x.info2, x.rep)
			order.PutUint16(section[len(section)-5:], uint16(x.fres))
		} else {
			order.PutUint32(section[field:], uint32(value))
			order.PutUint32(section[field+4:], x.size)
			order.PutUint32(section[field+8:], off)
			order.PutUint32(section[field+12:], x.fres)
			section[field+16], section[field+17] = x.info, x.rep
		}
		section = append(section, x.rows...)
	}

	head := section[at:]
	order.PutUint16(head, c.magic)
	head[2], head[3] = c.version, c.flags
	order.PutUint32(head[8:], uint32(len(c.funcs)))
	order.PutUint32(head[12:], fres+uint32(c.fres))
	order.PutUint32(head[16:], uint32(len(section)-base))
	order.PutUint32(head[20:], 0)
	order.PutUint32(head[24:], uint32(entry*len(c.funcs)))
	return section
}
