package dwarfinfo

import (
	"cmp"
	"fmt"

	"symkit/check/internal/naming"
	"symkit/internal/wire"
	"symkit/limits"
)

// lineHeader is what debug/dwarf does not return of a line table's header.
type lineHeader struct {
	version uint16
	// files are the files of a version 5 table. debug/dwarf joins the directory to each file name,
	// even to absolute ones (clang writes these where a source file and the directory of the
	// compilation have no directory in common).
	files []lineFile
	// dir is directory 0 of a version 5 table, that of the compilation.
	dir string
}

// base returns the directory that relative names belong to. DW_AT_comp_dir and directory 0 of a
// version 5 table name the same one (DWARF 5 §6.2.4). If only one of them is absolute, that one
// counts: gcc -flto -ffat-lto-objects with -ffile-prefix-map writes a relative DW_AT_comp_dir, and
// gas, which does not know the map, an absolute directory 0.
func (t *lineHeader) base(compDir string) string {
	if compDir == "" || !naming.IsAbsolute(compDir) && naming.IsAbsolute(t.dir) {
		return cmp.Or(t.dir, compDir)
	}
	return compDir
}

// lineFile is a file of a version 5 table: its name, the number of its directory and, if there is
// such a directory, the directory's name. Directory 0 is that of the compilation; the others may be
// relative to directory 0.
type lineFile struct {
	name, dirName []byte
	dir           uint64
}

// path returns the path of the file; base is the directory of the compilation.
func (f *lineFile) path(base string) string {
	name := string(f.name)
	if name == "" || naming.IsAbsolute(name) {
		return name
	}

	if f.dir != 0 && len(f.dirName) > 0 {
		name = string(f.dirName) + "/" + name
	}
	if base != "" && !naming.IsAbsolute(name) {
		name = base + "/" + name
	}
	return name
}

// lineReader reads the header of a line table as debug/dwarf does, and counts the bytes of the
// paths that debug/dwarf will make.
type lineReader struct {
	d       *Info
	c       wire.Cursor
	version uint16
	dwarf64 bool
	compDir uint64
	lengths []uint64   // of the directories
	paths   uint64     // bytes of all directories and files
	most    uint64     // limit on paths
	dirs    [][]byte   // directories of a version 5 table
	files   []lineFile // files of a version 5 table
}

// lineHeader reads the header of the line table at off. It verifies that no count exceeds the
// number of bytes left, and that the paths, which debug/dwarf joins one by one, are not too long in
// sum. compDir is the length of the directory of the compilation.
func (d *Info) lineHeader(off uint64, compDir int) (t lineHeader, err error) {
	c := wire.New(".debug_line", d.line, d.bigEndian)
	c.Seek(off)
	r := lineReader{d: d, compDir: uint64(compDir), most: d.limits.Max(limits.Files, uint64(d.size))}

	// The fixed part of the header; the line program begins after the header's length.
	n, dwarf64 := c.InitialLength()
	r.c, r.dwarf64 = c.Sub(n), dwarf64
	r.version = r.c.U16()
	t.version = r.version
	if r.version >= 5 {
		r.c.Skip(2)
	}
	length := r.c.Offset(dwarf64)
	program := r.c
	program.Skip(length)
	r.c.U8()
	if r.version >= 4 {
		r.c.U8()
	}
	r.c.Skip(3)

	opcodes := r.c.Bytes(uint64(max(r.c.U8(), 1) - 1))

	// The tables of directories and files.
	if r.version >= 5 {
		r.entries(true)
		r.entries(false)
		t.files = r.files
		if len(r.dirs) > 0 {
			t.dir = string(r.dirs[0])
		}
	} else {
		r.oldTables()
	}

	if err := r.c.Err(); err != nil {
		return t, err
	}

	// The program can define more files.
	r.c = program
	r.definedFiles(opcodes)
	if r.paths > r.most {
		return t, &wire.Error{Section: ".debug_line", Offset: int(off), Err: d.limits.Exceeded(limits.Files, uint64(d.size))}
	}
	return t, nil
}

// oldTables reads the tables of directories and files of versions before 5 (DWARF 4 §6.2.4).
func (r *lineReader) oldTables() {
	r.lengths = append(r.lengths, r.compDir)
	for {
		dir := r.c.CString()
		if len(dir) == 0 || r.c.Err() != nil || r.paths > r.most {
			break
		}
		r.lengths = append(r.lengths, r.compDir+uint64(len(dir)))
		r.paths += r.compDir + uint64(len(dir))
	}

	for r.oldFile() && r.paths <= r.most {
	}
}

// oldFile reads one entry of the table of files. It returns false at the table's end.
func (r *lineReader) oldFile() bool {
	name := r.c.CString()
	if len(name) == 0 || r.c.Err() != nil {
		return false
	}
	r.path(uint64(len(name)), r.c.ULEB())
	r.c.SkipLEB()
	r.c.SkipLEB()
	return true
}

// path counts the bytes of a file's path.
func (r *lineReader) path(name, dir uint64) {
	r.paths += name
	if dir < uint64(len(r.lengths)) {
		r.paths += r.lengths[dir]
	}
}

// definedFiles counts the files that the program itself defines (DWARF 4 §6.2.5.3,
// DW_LNE_define_file).
func (r *lineReader) definedFiles(opcodes []byte) {
	const extended, fixedAdvance, defineFile = 0, 9, 3
	for c := &r.c; c.Len() > 0 && r.paths <= r.most; {
		switch op := c.U8(); {
		case op == extended:
			// An extended opcode comes after its length.
			instruction := c.Sub(c.ULEB())
			if instruction.U8() == defineFile {
				rest := *c
				*c = instruction
				r.oldFile()
				err := c.Err()
				*c = rest
				if err != nil {
					return // debug/dwarf will report the damage
				}
			}
		case op == fixedAdvance:
			c.U16()
		case int(op) <= len(opcodes):
			for range opcodes[op-1] {
				c.SkipLEB()
			}
		}
	}
}

// Content types of version 5 tables (DWARF 5 §6.2.4.1).
const lnctPath, lnctDirectory = 1, 2

// entries reads one of the two tables of version 5: directories or files.
func (r *lineReader) entries(dirs bool) {
	h := &r.c
	forms := make([][2]uint64, h.U8())
	for i := range forms {
		forms[i] = [2]uint64{h.ULEB(), h.ULEB()}
	}

	// An entry without forms takes no bytes, so that no count of them is plausible.
	count := h.ULEB()
	if count > uint64(h.Len()) || len(forms) == 0 && count > 0 {
		h.Fail(h.Pos(), fmt.Errorf("%d entries in %d bytes", count, h.Len()))
	}

	for ; count > 0 && h.Err() == nil && r.paths <= r.most; count-- {
		// The forms tell which values are names and directory numbers.
		var entry lineFile
		for _, f := range forms {
			v, text := r.form(f[1])
			r.paths += uint64(len(text))
			switch f[0] {
			case lnctDirectory:
				entry.dir = v
			case lnctPath:
				entry.name = text
			}
		}

		// The paths of files count the bytes of their directories again.
		if dirs {
			r.dirs = append(r.dirs, entry.name)
			r.lengths = append(r.lengths, uint64(len(entry.name)))
			continue
		}
		if entry.dir < uint64(len(r.dirs)) {
			entry.dirName = r.dirs[entry.dir]
		}
		r.files = append(r.files, entry)
		r.path(0, entry.dir)
	}
}

// form reads a value in a line table's header (DWARF 5 §6.2.4.1). It returns the number, if the
// form is one that a directory number can have, or the string. Other values are skipped.
func (r *lineReader) form(form uint64) (v uint64, text []byte) {
	c := &r.c
	switch form {
	case 0x08: // string
		return 0, c.CString()
	case 0x0e: // strp
		return 0, r.stringAt(".debug_str", r.d.str)
	case 0x1f: // line_strp
		return 0, r.stringAt(".debug_line_str", r.d.lineStr)
	case 0x0b: // data1
		return uint64(c.U8()), nil
	case 0x25: // strx1
		c.Skip(1)
	case 0x05: // data2
		return uint64(c.U16()), nil
	case 0x26: // strx2
		c.Skip(2)
	case 0x06, 0x28: // data4, strx4
		c.Skip(4)
	case 0x07: // data8
		c.Skip(8)
	case 0x1e: // data16
		c.Skip(16)
	case 0x0f: // udata
		return c.ULEB(), nil
	case 0x1a: // strx
		c.SkipLEB()
	case 0x09: // block
		c.Skip(c.ULEB())
	default:
		c.Fail(c.Pos(), fmt.Errorf("unknown form %#x", form))
	}
	return 0, nil
}

// stringAt reads an offset, and returns the string at this offset in another section.
func (r *lineReader) stringAt(section string, data []byte) []byte {
	c := wire.New(section, data, r.d.bigEndian)
	c.Seek(r.c.Offset(r.dwarf64))
	return c.CString()
}
