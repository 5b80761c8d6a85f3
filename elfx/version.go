package elfx

import (
	"bytes"
	"debug/elf"
	"errors"

	"symkit/located"
)

// errVersions: a table of symbol versions has more entries than .gnu.version can number.
var errVersions = errors.New("too many symbol versions")

// maxVersions bounds the entries of a table: .gnu.version has 15 bits for the number of a
// version, and an entry has two auxiliary ones or less on average. maxVersionName bounds a
// name; the longest one in Debian 12 has 40 bytes.
const (
	maxVersions    = 1 << 16
	maxVersionName = 255
)

// versionTable is a table of symbol versions: of those that the file defines, or of those
// that it needs of other files.
type versionTable struct {
	tag     elf.DynTag
	section elf.SectionType
	name    string

	// The offsets of fields in an entry (LSB Core, "Symbol Versioning"): of the number of
	// auxiliary entries, the distance to the first, and the distance to the next entry.
	count, aux, next uint64
	// Those of fields in an auxiliary entry: of the name, and the distance to the next.
	auxName, auxNext uint64
}

var versionTables = []versionTable{
	{elf.DT_VERDEF, elf.SHT_GNU_VERDEF, ".gnu.version_d", 6, 12, 16, 0, 4},
	{elf.DT_VERNEED, elf.SHT_GNU_VERNEED, ".gnu.version_r", 2, 8, 12, 8, 12},
}

// Versions returns the names of the symbol versions that f defines or needs. Names
// after damage are lost, and the first damage is the error.
func Versions(f *File) (names map[string]bool, err error) {
	names = map[string]bool{}
	err = f.do(func() (first error) {
		for i := range versionTables {
			err := readVersions(f, &versionTables[i], names)
			if first == nil {
				first = err
			}
		}
		return first
	})
	return names, err
}

// readVersions adds the names in one table to names.
func readVersions(f *File, t *versionTable, names map[string]bool) error {
	data, strings, err := versionData(f, t)
	if err != nil || len(data) == 0 {
		return err
	}

	// An entry is followed by another one at a distance, and so are its auxiliary entries.
	left := maxVersions
	for at, distance := uint64(0), uint64(1); distance > 0; at += distance {
		c := f.cursor(t.name, data)
		c.Seek(at + t.count)
		count := int(c.U16())
		c.Seek(at + t.aux)
		aux := uint64(c.U32())
		c.Seek(at + t.next)
		distance = uint64(c.U32())

		left -= 1 + count
		if left < 0 {
			c.Fail(int(at), errVersions)
		}
		for aux += at; count > 0 && c.Err() == nil; count-- {
			c.Seek(aux + t.auxName)
			addVersion(names, strings, c.U32())
			c.Seek(aux + t.auxNext)
			aux += uint64(c.U32())
		}
		if c.Err() != nil {
			return c.Err()
		}
	}
	return nil
}

// addVersion adds the name at an offset of strings to names, unless it is none.
func addVersion(names map[string]bool, strings []byte, off uint32) {
	if uint64(off) >= uint64(len(strings)) {
		return
	}
	name, _, ok := bytes.Cut(strings[off:min(uint64(len(strings)), uint64(off)+maxVersionName+1)], []byte{0})
	if ok && len(name) > 0 {
		names[string(name)] = true
	}
}

// versionData returns the bytes of a table and its strings. A file without section headers
// has the table's address in its dynamic section.
func versionData(f *File, t *versionTable) (data, strings []byte, err error) {
	s := present(find(f.Sections, func(s *Section) bool { return s.Type == t.section }))
	if s != nil {
		data, err = s.unpacked()
		if err != nil {
			return nil, nil, err
		}
		linked := f.linked(s)
		if linked == nil {
			return nil, nil, &located.Error{Section: s.label(), Err: errSymbolStrings}
		}
		strings, err = linked.unpacked()
		return data, strings, err
	}

	d, err := readDynamic(f)
	addr := d.verneed
	if t.tag == elf.DT_VERDEF {
		addr = d.verdef
	}
	if err != nil || addr == 0 {
		return nil, nil, err
	}
	return f.bytesFrom(addr), d.strings, nil
}
