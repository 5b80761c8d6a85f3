package elfx

import (
	"debug/elf"
	"slices"

	"symkit/internal/limitof"
	"symkit/internal/wire"
)

// ntGNUBuildID is the type of the build id among the notes with the name "GNU".
// With another name the number has another meaning: Xen's type 3 is an address.
const ntGNUBuildID = 3

// note is one entry of a note section or segment (gABI, "Note Section").
type note struct {
	name string
	kind uint32
	desc []byte
}

// BuildID returns a copy of the descriptor of the file's GNU build id note, or nil.
func (f *File) BuildID() []byte { return slices.Clone(f.buildID) }

// findBuildID returns the build id from the section where linkers put it, else from
// any other note, or nil. A damaged note is a loss and not an error: a file without
// a build id is usable.
func findBuildID(f *File) []byte {
	left := f.opt.Limits.Int(limitof.Notes) // any number of headers can refer to the same bytes
	if s := present(f.named(".note.gnu.build-id")); s != nil {
		if id := sectionBuildID(f, s, &left); id != nil {
			return id
		}
	}

	// Any other note section may have the build id instead.
	for i := range f.Sections {
		s := &f.Sections[i]
		if s.Type != elf.SHT_NOTE || s.Name == ".note.gnu.build-id" {
			continue
		}
		if id := sectionBuildID(f, s, &left); id != nil {
			return id
		}
	}

	// At last the segments: a file without section headers has no note sections.
	for i := range f.Segments {
		if s := &f.Segments[i]; s.Type == elf.PT_NOTE {
			if id := segmentBuildID(f, s, &left); id != nil {
				return id
			}
		}
	}
	return nil
}

// sectionBuildID returns the build id of a note section, or nil.
func sectionBuildID(f *File, s *Section, left *int) []byte {
	data, err := s.raw() // notes are loaded, so never compressed
	if err != nil {
		f.lose(err)
		return nil
	}
	return buildIDIn(f, s.label(), data, s.Align, left)
}

// segmentBuildID returns the build id of a PT_NOTE segment, or nil.
func segmentBuildID(f *File, s *Segment, left *int) []byte {
	// The program headers of a debug file do not locate its notes. They are
	// sections, too, which were searched.
	if !f.holdsLoaded && len(f.Sections) > 0 {
		return nil
	}
	data, ok := segmentData(f, s)
	if !ok {
		return nil
	}
	return buildIDIn(f, "PT_NOTE", data, s.Align, left)
}

// buildIDIn returns the build id of the notes in data, or nil. At most left notes are
// read.
func buildIDIn(f *File, where string, data []byte, align uint64, left *int) []byte {
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

// readNote reads one note. Its words have 4 bytes in both classes, against the gABI
// for 64-bit files. Name and descriptor are padded to the alignment of the section,
// 4 or 8. The last padding may be missing. OpenHarmony's linker leaves out that of the name, too: its section has one
// note, which fills the section without any padding.
func readNote(c *wire.Cursor, align uint64) (n note) {
	if align != 8 {
		align = 4
	}
	start := c.Pos()
	nameSize, descSize := c.U32(), c.U32()
	n.kind = c.U32()
	if start == 0 && uint64(nameSize)+uint64(descSize) == uint64(c.Len()) {
		align = 1
	}

	// The padding counts from the start of the note.
	name := c.Bytes(uint64(nameSize))
	pad(c, start, align)
	n.desc = c.Bytes(uint64(descSize))
	pad(c, start, align)

	// The names of interest are short; a longer one stays empty.
	if k := len(name); k > 0 && k <= 8 && name[k-1] == 0 {
		n.name = string(name[:k-1])
	}
	return n
}

// pad skips the bytes up to the next multiple of align from start, or to the end of
// the data.
func pad(c *wire.Cursor, start int, align uint64) {
	over := uint64(c.Pos()-start) % align
	if over != 0 {
		c.Skip(min(align-over, uint64(c.Len())))
	}
}
