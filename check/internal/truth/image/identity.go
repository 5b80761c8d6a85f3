package image

import (
	"bytes"
	"debug/elf"
	"encoding/hex"
	"path/filepath"
	"slices"
	"strings"

	"symkit/check/internal/naming"
	"symkit/elfx"
	"symkit/internal/limitof"
	"symkit/internal/wire"
)

// The build id and DT_SONAME are read here from the bytes of notes and of the dynamic array,
// without elfx's readers of both, so that a mistake in elfx is found. debug/elf is unsuitable: when
// it opens a file it inflates a compressed section name table, whatever size that table claims.
// Loaded sections are never compressed (gABI, "Section Compression"), so nothing is inflated here.

// Identity returns the build id and the acceptable names of the module, as MODULE records have
// them. given are names that the user accepts.
func Identity(img *elfx.Image, given []string) (id []byte, names []string) {
	names = append(names, given...)
	for _, f := range []*elfx.File{img.Main, img.Debug} {
		if f == nil {
			continue
		}

		// The main file's own id comes first.
		if id == nil {
			id = buildID(f)
		}
		if f == img.Main {
			if name := soname(f); name != "" {
				names = append(names, name)
			}
		}
	}

	// The file's name counts only without DT_SONAME.
	if len(names) == len(given) {
		base := filepath.Base(img.Main.Path())
		names = append(names, base)
		if cut, ok := strings.CutSuffix(base, ".debug"); ok {
			names = append(names, cut)
		}
	}

	for i, name := range names {
		names[i] = naming.Escaped(name)
	}
	return id, names
}

// maxName bounds DT_SONAME.
const maxName = 4096

// soname returns DT_SONAME, "" if there is none. The strings are those of the section that the
// dynamic section links to; without section headers they are where DT_STRTAB points.
func soname(f *elfx.File) string {
	array, table := dynamicArray(f)
	c := wire.New(".dynamic", array, f.BigEndian)

	// Pairs of tag and value.
	var name, strtab uint64
	for word := f.AddrSize(); c.Len() >= 2*word; {
		tag, value := elf.DynTag(c.Uint(word)), c.Uint(word)
		if tag == elf.DT_NULL {
			break
		}
		switch tag {
		case elf.DT_SONAME:
			name = value
		case elf.DT_STRTAB:
			strtab = value
		}
	}
	if name == 0 {
		return ""
	}

	// The name is an offset into the strings.
	if len(f.Sections) == 0 {
		table = loadedFrom(f, strtab)
	}
	if name >= uint64(len(table)) {
		return ""
	}
	table = table[name:]
	text, _, _ := bytes.Cut(table[:min(len(table), maxName)], []byte{0})
	return string(text)
}

// dynamicArray returns the dynamic array, and the strings of its section; without section headers
// only the array, of the segment.
func dynamicArray(f *elfx.File) (array, table []byte) {
	for i := range f.Sections {
		s := &f.Sections[i]
		if s.Type != elf.SHT_DYNAMIC {
			continue
		}

		// sh_link is the section of the strings.
		if uint64(s.Link) < uint64(len(f.Sections)) {
			table = stored(&f.Sections[s.Link])
		}
		return stored(s), table
	}
	if len(f.Sections) > 0 {
		return nil, nil
	}
	for i := range f.Segments {
		if s := &f.Segments[i]; s.Type == elf.PT_DYNAMIC {
			return f.FileBytes(s.Offset, s.Filesz), nil
		}
	}
	return nil, nil
}

// stored returns the bytes of a section as they are in the file, nil if they are compressed.
func stored(s *elfx.Section) []byte {
	if s.Flags&elf.SHF_COMPRESSED != 0 {
		return nil
	}
	data, err := s.Raw()
	if err != nil {
		return nil
	}
	return data
}

// loadedFrom returns the bytes from an address to the end of its segment.
func loadedFrom(f *elfx.File, addr uint64) []byte {
	for i := range f.Segments {
		if s := &f.Segments[i]; s.Type == elf.PT_LOAD && addr >= s.Vaddr && addr-s.Vaddr < s.Filesz {
			return f.FileBytes(s.Offset+addr-s.Vaddr, s.Filesz-(addr-s.Vaddr))
		}
	}
	return nil
}

// buildID returns the descriptor of the GNU build id note, nil if there is none.
func buildID(f *elfx.File) []byte {
	// Notes of sections first, then those of segments.
	left := f.Options().Limits.Int(limitof.Notes) // headers may name the same bytes any number of times
	for i := range f.Sections {
		s := &f.Sections[i]
		if s.Type == elf.SHT_NOTE {
			id := gnuNote(wire.New("notes", stored(s), f.BigEndian), &left)
			if id != nil {
				return id
			}
		}
	}
	for i := range f.Segments {
		s := &f.Segments[i]
		if s.Type == elf.PT_NOTE {
			id := gnuNote(wire.New("notes", f.FileBytes(s.Offset, s.Filesz), f.BigEndian), &left)
			if id != nil {
				return id
			}
		}
	}
	return nil
}

// gnuNote reads up to left notes, and returns the descriptor of NT_GNU_BUILD_ID (3) of "GNU" (gABI,
// "Note Section").
func gnuNote(c wire.Cursor, left *int) []byte {
	const buildIDType = 3
	pad := func(n uint64) uint64 { return (n + 3) &^ 3 }
	for ; c.Len() > 0 && *left > 0; *left-- {
		nameSize, descSize, kind := uint64(c.U32()), uint64(c.U32()), c.U32()

		// The last descriptor may have no padding.
		name := c.Bytes(pad(nameSize))
		desc := c.Bytes(descSize)
		if c.Err() != nil {
			break
		}

		if kind == buildIDType && bytes.Equal(name[:nameSize], []byte("GNU\x00")) && descSize > 0 {
			return desc
		}
		c.Skip(min(pad(descSize)-descSize, uint64(c.Len())))
	}
	return nil
}

// DebugID returns the id of a MODULE record: the first 16 bytes as a GUID, whose first three fields
// are numbers in the file's byte order, and an age of 0.
func DebugID(id []byte, bigEndian bool) string {
	var b [16]byte
	copy(b[:], id)
	if !bigEndian {
		slices.Reverse(b[0:4])
		slices.Reverse(b[4:6])
		slices.Reverse(b[6:8])
	}
	return UpperHex(b[:]) + "0"
}

// UpperHex returns b in upper-case hexadecimal digits.
func UpperHex(b []byte) string { return strings.ToUpper(hex.EncodeToString(b)) }
