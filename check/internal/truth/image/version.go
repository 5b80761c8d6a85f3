package image

import (
	"debug/elf"

	"symkit/elfx"
	"symkit/internal/wire"
)

// Versions returns the names of the symbol versions that a linked file defines (SHT_GNU_verdef)
// and needs of others (SHT_GNU_verneed): LSB Core, "Symbol Versioning". Damage ends a table.
func Versions(f *elfx.File) map[string]bool {
	v := versions{f: f, names: map[string]bool{}, left: maxVersions}
	if f.Type == elf.ET_REL {
		return v.names
	}
	for i := range f.Sections {
		s := &f.Sections[i]
		if (s.Type == elf.SHT_GNU_VERDEF || s.Type == elf.SHT_GNU_VERNEED) && uint64(s.Link) < uint64(len(f.Sections)) {
			v.table(stored(s), stored(&f.Sections[s.Link]), s.Type == elf.SHT_GNU_VERDEF)
		}
	}
	if len(f.Sections) == 0 {
		v.dynamic()
	}
	return v.names
}

// maxVersions bounds the steps through the tables. Versions have numbers of 15 bits.
const maxVersions = 1 << 17

// versions collects the names of versions.
type versions struct {
	f     *elfx.File
	names map[string]bool
	left  int // steps
}

// dynamic reads the tables of a file without section headers, whose dynamic array has their
// addresses.
func (v *versions) dynamic() {
	array, _ := dynamicArray(v.f)
	c := wire.New(".dynamic", array, v.f.BigEndian)
	tags := map[elf.DynTag]uint64{}
	for word := v.f.AddrSize(); c.Len() >= 2*word; {
		tag, value := elf.DynTag(c.Uint(word)), c.Uint(word)
		switch tag {
		case elf.DT_NULL:
			c.Skip(uint64(c.Len()))
		case elf.DT_STRTAB, elf.DT_VERDEF, elf.DT_VERNEED:
			tags[tag] = value
		}
	}

	strings := loadedFrom(v.f, tags[elf.DT_STRTAB])
	for _, tag := range []elf.DynTag{elf.DT_VERDEF, elf.DT_VERNEED} {
		if tags[tag] != 0 {
			v.table(loadedFrom(v.f, tags[tag]), strings, tag == elf.DT_VERDEF)
		}
	}
}

// table reads a table. Each entry has a list of its own: that of a version defined here begins
// with its name, that of a file has the versions needed of it.
func (v *versions) table(data, strings []byte, defined bool) {
	for v.left > 0 {
		v.left--
		entry := wire.New("versions", data, v.f.BigEndian)
		var count uint16
		if defined {
			entry.Skip(6) // vd_version, vd_flags, vd_ndx
			count = entry.U16()
			entry.Skip(4) // vd_hash
		} else {
			entry.Skip(2) // vn_version
			count = entry.U16()
			entry.Skip(4) // vn_file
		}
		list, next := entry.U32(), entry.U32()
		if entry.Err() != nil {
			return
		}

		v.list(data[min(uint64(list), uint64(len(data))):], strings, int(count), defined)
		if next == 0 || uint64(next) >= uint64(len(data)) {
			return
		}
		data = data[next:]
	}
}

// list reads the list of an entry.
func (v *versions) list(data, strings []byte, count int, defined bool) {
	for ; count > 0 && v.left > 0; count-- {
		v.left--
		c := wire.New("versions", data, v.f.BigEndian)
		if !defined {
			c.Skip(8) // vna_hash, vna_flags, vna_other
		}
		name, next := c.U32(), c.U32()
		if c.Err() != nil {
			return
		}

		text := wire.New("versions", strings, v.f.BigEndian)
		text.Seek(uint64(name))
		s := text.Bytes(min(uint64(text.Len()), maxVersion))
		for i := range s {
			if s[i] == 0 {
				v.names[string(s[:i])] = true
				break
			}
		}
		if next == 0 || uint64(next) >= uint64(len(data)) {
			return
		}
		data = data[next:]
	}
}

// maxVersion bounds the name of a version with its NUL.
const maxVersion = 256
