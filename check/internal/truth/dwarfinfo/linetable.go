package dwarfinfo

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"symkit/check/internal/naming"
	"symkit/internal/limitof"
	"symkit/internal/wire"
)

// lineHeader is the header of a line table (DWARF 5 §6.2.4).
type lineHeader struct {
	version     uint16
	minInst     uint64 // bytes of the smallest instruction
	maxOps      uint64 // operations of an instruction
	lineBase    int64
	lineRange   uint64
	opcodeBase  uint8
	lengths     []byte      // numbers of operands of the standard opcodes
	dirs        [][]byte    // directory 0 is that of the compilation; before version 5 it has no name
	files       []lineFile  // before version 5 file 0 has no name
	program     wire.Cursor // the opcodes
	pathBytes   uint64      // bytes of the paths of all files
	compDirSize uint64
	most        uint64 // limit on pathBytes
	left        int    // bytes of memory that the table and its rows may still take
	text        []byte // the last result of path
}

// What the records of a line table take in memory, in bytes, with what slices need to grow: a file
// with its number, a name, a row, a sequence.
const fileBytes, nameBytes, rowBytes, sequenceBytes = 90, 60, 60, 48

// tableShare is the part of the memory of line records that one table may take: several tables
// are in use at a time.
const tableShare = 2

// take counts n bytes of memory. It returns false if there is too little left.
func (t *lineHeader) take(n int) bool {
	t.left -= n
	return t.left >= 0
}

// lineFile is a file: its name and the number of its directory.
type lineFile struct {
	name []byte
	dir  uint64
}

// base returns the directory that relative names belong to. DW_AT_comp_dir and directory 0 of a
// version 5 table name the same one (DWARF 5 §6.2.4). If only one of them is absolute, that one
// counts: gcc -flto -ffat-lto-objects with -ffile-prefix-map writes a relative DW_AT_comp_dir, and
// gas, which does not know the map, an absolute directory 0.
func (t *lineHeader) base(compDir string) string {
	dir := ""
	if len(t.dirs) > 0 {
		dir = string(t.dirs[0])
	}
	if compDir == "" || !naming.IsAbsolute(compDir) && naming.IsAbsolute(dir) {
		return cmp.Or(dir, compDir)
	}
	return compDir
}

// path returns the path of a file, empty if the file has no name; base is the directory of the compilation, to
// which other directories may be relative. The path is valid until the next call.
func (t *lineHeader) path(f lineFile, base string) []byte {
	if len(f.name) == 0 || isAbsolute(f.name) {
		return f.name
	}
	b := t.text[:0]
	if base != "" {
		b = append(append(b, base...), '/')
	}
	from := len(b)
	if f.dir != 0 && f.dir < uint64(len(t.dirs)) && len(t.dirs[f.dir]) > 0 {
		b = append(append(b, t.dirs[f.dir]...), '/')
	}
	t.text = append(b, f.name...)
	if isAbsolute(t.text[from:]) {
		return t.text[from:]
	}
	return t.text
}

// isAbsolute is naming.IsAbsolute, which reads three bytes at most.
func isAbsolute(path []byte) bool { return naming.IsAbsolute(string(path[:min(len(path), 3)])) }

// lineHeader reads the header of the line table at off. It checks that no count exceeds the number
// of bytes left, and that the paths are not too long in sum.
func (d *Info) lineHeader(off uint64, compDir int) (t *lineHeader, err error) {
	whole := wire.New(".debug_line", d.line, d.bigEndian)
	whole.Seek(off)
	n, dwarf64 := whole.InitialLength()
	c := whole.Sub(n)
	t = &lineHeader{version: c.U16(), maxOps: 1, compDirSize: uint64(compDir), most: d.limits.Max(limitof.Files, uint64(d.size))}
	t.left = int(min(d.limits.Max(limitof.LineRecords, uint64(d.size))/tableShare, math.MaxInt32))
	if t.version >= 5 {
		c.Skip(2)
	}
	length := c.Offset(dwarf64)
	t.program = c
	t.program.Skip(length)

	// The parameters of the state machine.
	at := c.Pos()
	t.minInst = uint64(c.U8())
	if t.version >= 4 {
		t.maxOps = uint64(c.U8())
	}
	c.Skip(1) // default_is_stmt
	t.lineBase, t.lineRange, t.opcodeBase = int64(int8(c.U8())), uint64(c.U8()), c.U8()
	t.lengths = c.Bytes(uint64(max(t.opcodeBase, 1) - 1))
	switch {
	case c.Err() != nil:
	case t.version < 2 || t.version > 6:
		c.Fail(int(off), fmt.Errorf("version %d", t.version))
	case t.maxOps == 0 || t.lineRange == 0:
		c.Fail(at, errors.New("a parameter of 0, by which is divided"))
	}

	// The tables of directories and files.
	if t.version >= 5 {
		t.dirs = t.names(d, &c, dwarf64, nil)
		t.files = t.entries(d, &c, dwarf64)
	} else {
		t.oldTables(&c)
	}
	switch {
	case t.exceeds(d, off) != nil:
		return nil, t.exceeds(d, off)
	case c.Err() != nil:
		return nil, c.Err()
	case t.program.Err() != nil:
		return nil, t.program.Err()
	}
	return t, nil
}

// exceeds returns the error for a table that exceeds a limit, or nil.
func (t *lineHeader) exceeds(d *Info, off uint64) error {
	limit := limitof.Files
	switch {
	case t.left < 0:
		limit = limitof.LineRecords
	case t.pathBytes <= t.most:
		return nil
	}
	return &wire.Error{Section: ".debug_line", Offset: int(off), Err: d.limits.Exceeded(limit, uint64(d.size))}
}

// oldTables reads the tables of directories and files of versions before 5 (DWARF 4 §6.2.4).
func (t *lineHeader) oldTables(c *wire.Cursor) {
	t.dirs = append(t.dirs, nil)
	for c.Err() == nil && t.pathBytes <= t.most {
		dir := c.CString()
		if len(dir) == 0 || !t.take(nameBytes) {
			break
		}
		t.dirs = append(t.dirs, dir)
		t.pathBytes += t.compDirSize + uint64(len(dir))
	}

	t.files = append(t.files, lineFile{})
	for t.oldFile(c) && t.pathBytes <= t.most {
	}
}

// oldFile reads one entry of the table of files. It returns false at the table's end.
func (t *lineHeader) oldFile(c *wire.Cursor) bool {
	name := c.CString()
	if len(name) == 0 {
		return false
	}
	f := lineFile{name, c.ULEB()}
	c.SkipLEB() // time
	c.SkipLEB() // length
	return t.add(f) && c.Err() == nil
}

// add adds a file, and counts the bytes of its path. It returns false if there is too little memory.
func (t *lineHeader) add(f lineFile) bool {
	if !t.take(fileBytes) {
		return false
	}
	t.files = append(t.files, f)
	t.pathBytes += uint64(len(f.name)) + t.compDirSize
	if f.dir < uint64(len(t.dirs)) {
		t.pathBytes += uint64(len(t.dirs[f.dir]))
	}
	return true
}

// Content types of version 5 tables (DWARF 5 §6.2.4.1).
const lnctPath, lnctDirectory = 1, 2

// names reads a table of version 5 (DWARF 5 §6.2.4, items 11 to 18), and returns the names in it.
// The numbers of directories are appended to dirs if that is not nil.
func (t *lineHeader) names(d *Info, c *wire.Cursor, dwarf64 bool, dirs *[]uint64) (names [][]byte) {
	forms := make([][2]uint64, c.U8())
	for i := range forms {
		forms[i] = [2]uint64{c.ULEB(), c.ULEB()}
	}

	// An entry without forms takes no bytes, so that no count of them is plausible.
	count := c.ULEB()
	if count > uint64(c.Len()) || len(forms) == 0 && count > 0 {
		c.Fail(c.Pos(), fmt.Errorf("%d entries in %d bytes", count, c.Len()))
	}

	u := Unit{in: d, dwarf64: dwarf64, version: t.version, addrSize: 8}
	for ; count > 0 && c.Err() == nil && t.pathBytes <= t.most && t.take(nameBytes); count-- {
		var name []byte
		var dir uint64
		for _, f := range forms {
			at := c.Pos()
			v := u.read(c, uint16(min(f[1], formSkip-1)), 0)
			switch f[0] {
			case lnctDirectory:
				dir = v.num
			case lnctPath:
				if v.form == formString {
					name = cstring(d.line, uint64(at))
				} else {
					name, _, _ = u.text(v)
				}
			}
		}
		t.pathBytes += uint64(len(name))
		names = append(names, name)
		if dirs != nil {
			*dirs = append(*dirs, dir)
		}
	}
	return names
}

// entries reads the table of files of version 5.
func (t *lineHeader) entries(d *Info, c *wire.Cursor, dwarf64 bool) []lineFile {
	var dirs []uint64
	for i, name := range t.names(d, c, dwarf64, &dirs) {
		if !t.add(lineFile{name, dirs[i]}) {
			break
		}
	}
	return t.files
}
