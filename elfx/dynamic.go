package elfx

import (
	"bytes"
	"debug/elf"

	"symkit/located"
)

// dtMIPSSymtabno counts the dynamic symbols (MIPS psABI, "Dynamic Section").
const dtMIPSSymtabno = elf.DynTag(0x70000011)

// maxSoname bounds DT_SONAME; a file name has at most 255 bytes.
const maxSoname = 4096

// dynamic holds the tags of the dynamic array (gABI, "Dynamic Section") that are
// used. The value of an absent tag is 0.
type dynamic struct {
	soname, strtab, strsz uint64
	symtab, hash, gnuHash uint64
	mipsSymbols           uint64
	verdef, verneed       uint64
	strings               []byte
	stringsName           string
}

// Soname returns DT_SONAME of f. It is "" if the file has none, or if the dynamic
// section is in another file.
func Soname(f *File) (string, error) {
	return guarded(f, func() (string, error) { return soname(f) })
}

func soname(f *File) (string, error) {
	d, err := readDynamic(f)
	if err != nil || d.soname == 0 {
		return "", err
	}

	// The name ends with a NUL in the string table.
	c := f.cursor(d.stringsName, d.strings)
	c.Seek(d.soname)
	rest := c.Bytes(min(uint64(c.Len()), maxSoname))
	n := bytes.IndexByte(rest, 0)
	if c.Err() == nil && n < 0 {
		return "", &located.Error{Section: d.stringsName, Offset: int(d.soname), Err: located.ErrUnterminated}
	}
	return string(rest[:max(n, 0)]), c.Err()
}

// readDynamic reads the dynamic array and finds its string table.
func readDynamic(f *File) (d dynamic, err error) {
	s := present(f.Section(dynamicName))
	if s == nil {
		return d, nil
	}
	c, err := s.cursor()
	if err != nil {
		return d, err
	}

	// DT_NULL ends the array; the section can be longer.
	for c.Len() > 0 {
		tag := elf.DynTag(int64(c.Uint(f.AddrSize())))
		value := c.Uint(f.AddrSize())
		if tag == elf.DT_NULL {
			break
		}
		d.set(tag, value)
	}
	if c.Err() != nil {
		return d, c.Err()
	}
	return d, dynamicStrings(f, s, &d)
}

// set keeps the value of a tag that is used.
func (d *dynamic) set(tag elf.DynTag, value uint64) {
	switch tag {
	case elf.DT_SONAME:
		d.soname = value
	case elf.DT_STRTAB:
		d.strtab = value
	case elf.DT_STRSZ:
		d.strsz = value
	case elf.DT_SYMTAB:
		d.symtab = value
	case elf.DT_HASH:
		d.hash = value
	case elf.DT_GNU_HASH:
		d.gnuHash = value
	case elf.DT_VERDEF:
		d.verdef = value
	case elf.DT_VERNEED:
		d.verneed = value
	case dtMIPSSymtabno:
		d.mipsSymbols = value
	}
}

// dynamicStrings finds the string table: the section that sh_link of .dynamic
// names, or else the bytes at the address in DT_STRTAB.
func dynamicStrings(f *File, s *Section, d *dynamic) (err error) {
	if t := f.linked(s); t != nil {
		d.stringsName = t.label()
		d.strings, err = t.unpacked()
		return err
	}

	// Without section headers, DT_STRTAB and DT_STRSZ locate the strings in loaded
	// memory.
	d.stringsName = "DT_STRTAB"
	rest := f.bytesFrom(d.strtab)
	if d.strsz > uint64(len(rest)) {
		return &located.Error{Section: d.stringsName, Offset: len(rest), Err: located.ErrTruncated}
	}
	d.strings = rest[:d.strsz]
	return nil
}
