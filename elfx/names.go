package elfx

import (
	"debug/elf"
	"errors"
	"fmt"
	"hash/maphash"
	"strings"
	"sync"

	"symkit/internal/limitof"
	"symkit/located"
)

// errStrings: the section name table is missing, is no string table, or is larger
// than any linker writes.
var errStrings = errors.New("unusable section name table")

// maxSectionName bounds one section name in bytes: a million headers that share one
// very long name would take quadratic time.
const maxSectionName = 16 << 10

// nameSeed is the seed of File.names.
var nameSeed = maphash.MakeSeed()

// nameSections sets the names of the sections. Without names, sections are still
// found by type and through program headers.
func nameSections(f *File, t tables) {
	if len(f.Sections) == 0 {
		return
	}
	names, err := sectionNames(f, t.shstrndx)
	if err != nil {
		f.lose(err)
		return
	}

	// Damaged names are one loss, however many there are. Of sections with one name, the first is the one to find.
	var damaged error
	for i := range f.Sections {
		s := &f.Sections[i]
		if name, ok := sectionName(names, t.names[i]); ok {
			s.Name = name
		} else if damaged == nil {
			damaged = &located.Error{Section: sectionHeaders, Offset: f.headerAt(i), Err: located.ErrOffset}
		}
		if s.Type != elf.SHT_NULL && f.named(s.Name) == nil {
			f.names.Add(maphash.String(nameSeed, s.Name), uint32(i))
		}
	}

	// The name of a section can mean that the section is compressed.
	f.over = sync.OnceValue(func() map[int]error { return allOverAllowance(f) })
	if damaged != nil {
		f.lose(damaged)
	}
}

// sectionNames returns a copy of the table that e_shstrndx names: the names are used as
// strings after mem.Guard has returned. elfutils' elfcompress compresses this table, too,
// if it compresses all sections.
func sectionNames(f *File, index uint32) (string, error) {
	if uint64(index) >= uint64(len(f.Sections)) || f.Sections[index].Type != elf.SHT_STRTAB {
		return "", f.headerField(fieldShstrndx, errStrings)
	}

	// The size is checked before any byte is inflated or copied.
	s := &f.Sections[index]
	size := s.Size
	if s.compressed() {
		p, err := s.packing()
		if err != nil {
			return "", err
		}
		size = p.size
	}
	if size > f.opt.Limits.Max(limitof.SectionNames, 0) {
		return "", &located.Error{Section: s.label(), Err: fmt.Errorf("%w: %w", errStrings, f.opt.Limits.Exceeded(limitof.SectionNames, 0))}
	}
	if !s.compressed() {
		data, err := s.raw()
		return string(data), err
	}

	b, err := s.decompress()
	if err != nil {
		return "", err
	}
	defer f.memory.put(b)
	return string(b.Bytes()), nil
}

// sectionName returns the NUL-terminated string at offset off of names.
func sectionName(names string, off uint32) (string, bool) {
	// A name ends with a NUL, within the bound for names.
	if uint64(off) >= uint64(len(names)) {
		return "", false
	}
	rest := names[off:]
	n := strings.IndexByte(rest[:min(len(rest), maxSectionName)], 0)
	return rest[:max(n, 0)], n >= 0
}
