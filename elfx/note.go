package elfx

import (
	"debug/elf"

	"symkit/internal/limits"
	"symkit/internal/wire"
)

// ntGNUBuildID is the type of the build id among the notes of the name "GNU".
// Other names give the number another meaning: Xen's type 3 is an address.
const ntGNUBuildID = 3

// note is one record of a note section or segment (gABI, "Note Section").
type note struct {
	name string
	kind uint32
	desc []byte
}

// findBuildID looks for the build id where linkers put it first, then in every
// note. A build id is not worth failing for: damage is counted as lost.
func (f *File) findBuildID() []byte {
	left := limits.Notes.Int() // headers may name the same bytes any number of times
	if s := f.named(".note.gnu.build-id"); s != nil && s.Present() {
		if id := f.sectionBuildID(s, &left); id != nil {
			return id
		}
	}
	for i := range f.Sections {
		s := &f.Sections[i]
		if s.Type != elf.SHT_NOTE || s.Name == ".note.gnu.build-id" {
			continue
		}
		if id := f.sectionBuildID(s, &left); id != nil {
			return id
		}
	}
	for i := range f.Segments {
		if s := &f.Segments[i]; s.Type == elf.PT_NOTE {
			if id := f.segmentBuildID(s, &left); id != nil {
				return id
			}
		}
	}
	return nil
}

func (f *File) sectionBuildID(s *Section, left *int) []byte {
	data, err := s.raw() // notes are loaded, so never compressed
	if err != nil {
		f.lose(err)
		return nil
	}
	return f.buildIDIn(s.label(), data, s.Align, left)
}

func (f *File) segmentBuildID(s *Segment, left *int) []byte {
	// In a debug file the segment's bytes may be anything: its notes are
	// sections, which were searched.
	if !f.holdsLoaded && len(f.Sections) > 0 {
		return nil
	}
	data, ok := f.segmentData(s)
	if !ok {
		return nil
	}
	return f.buildIDIn("PT_NOTE", data, s.Align, left)
}

func (f *File) buildIDIn(where string, data []byte, align uint64, left *int) []byte {
	c := f.cursor(where, data)
	for c.Len() > 0 && *left > 0 {
		*left--
		n := readNote(&c, align)
		if c.Err() == nil && n.name == "GNU" && n.kind == ntGNUBuildID && len(n.desc) > 0 {
			return n.desc
		}
	}
	if c.Err() != nil {
		f.lose(c.Err())
	}
	return nil
}

// readNote reads one note. Its words have 4 bytes in both classes, whatever
// the gABI says of 64-bit files; name and descriptor are padded to the
// alignment of the section, which is 4 or 8. The last padding may be missing.
func readNote(c *wire.Cursor, align uint64) (n note) {
	if align != 8 {
		align = 4
	}
	start := c.Pos()
	nameSize, descSize := c.U32(), c.U32()
	n.kind = c.U32()
	name := c.Bytes(uint64(nameSize))
	pad(c, start, align)
	n.desc = c.Bytes(uint64(descSize))
	pad(c, start, align)
	if k := len(name); k > 0 && k <= 8 && name[k-1] == 0 {
		n.name = string(name[:k-1])
	}
	return n
}

// pad passes over the bytes up to the next multiple of align from start, as far
// as there are any.
func pad(c *wire.Cursor, start int, align uint64) {
	over := uint64(c.Pos()-start) % align
	if over != 0 {
		c.Skip(min(align-over, uint64(c.Len())))
	}
}
