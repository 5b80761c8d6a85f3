package dwarfx

import (
	"fmt"

	"symkit/internal/wire"
)

// readLineHeader reads the header at c into t. An address size that the header lacks is u's.
func (d *Data) readLineHeader(c *wire.Cursor, u *Unit, t *LineTable) error {
	start, h := c.Pos(), &t.h
	*h = lineHeader{dirs: h.dirs[:0], files: h.files[:0], addrSize: u.AddrSize, maxOps: 1}
	t.texts, t.text = t.texts[:0], LineText{}

	// From here on, c ends where the table ends.
	n, dwarf64 := c.InitialLength()
	body := c.Sub(n)
	h.dwarf64, h.end = dwarf64, body.End()
	*c = body
	h.version = c.U16()
	if c.Err() == nil && (h.version < 2 || h.version > draftVersion) {
		c.Fail(start, fmt.Errorf("%w %d", ErrVersion, h.version))
	}
	if h.version == draftVersion {
		h.version = 5
	}
	if h.version == 5 {
		h.addrSize = c.U8()
		c.U8() // segment_selector_size
	}

	headerLen := c.Offset(dwarf64)
	h.programAt = c.Pos()
	if headerLen > uint64(c.Len()) {
		c.Fail(start, fmt.Errorf("%w: it ends outside of its table", ErrLineHeader))
		return c.Err()
	}
	h.programAt += int(headerLen)

	// The parameters of the state machine.
	h.minInst = uint64(c.U8())
	if h.version >= 4 {
		h.maxOps = uint64(max(c.U8(), 1))
	}
	c.U8() // default_is_stmt
	h.lineBase = int64(int8(c.U8()))
	h.lineRange = uint64(c.U8())
	h.opcodeBase = c.U8()
	h.opcodeLengths = c.Bytes(uint64(max(h.opcodeBase, 1) - 1))

	if h.version == 5 {
		d.readLineEntries(c, u, t, func(f LineFile) { h.dirs = append(h.dirs, f.Name) })
		t.texts = t.texts[:0] // of files alone
		d.readLineEntries(c, u, t, func(f LineFile) { h.files = append(h.files, f) })
	} else {
		readLineTablesV4(c, t)
	}
	if s := h.addrSize; c.Err() == nil && s != 8 && s != 4 && s != 2 && s != 1 {
		c.Fail(start, fmt.Errorf("%w %d", ErrAddrSize, s))
	}
	return c.Err()
}

// readLineTablesV4 reads the directories and files of DWARF 2 to 4, numbered
// from 1: directory 0 is the unit's, file 0 none.
func readLineTablesV4(c *wire.Cursor, t *LineTable) {
	h := &t.h
	h.dirs = append(h.dirs, nil)
	for dir := c.CString(); len(dir) > 0; dir = c.CString() {
		t.pay(c, nameMemory)
		h.dirs = append(h.dirs, dir)
	}
	h.files = append(h.files, LineFile{})
	for name := c.CString(); len(name) > 0; name = c.CString() {
		t.pay(c, nameMemory)
		h.files = append(h.files, readLineFileV4(c, name))
	}
}

// readLineFileV4 reads the numbers after a file's name.
func readLineFileV4(c *wire.Cursor, name []byte) LineFile {
	f := LineFile{Name: name, Dir: c.ULEB()}
	c.SkipLEB() // time
	c.SkipLEB() // length
	return f
}

// Content types of DWARF 5 line table entries (§6.2.4.1), and of the text of a file: that of DWARF 6, and LLVM's. The
// others (time, size), and those of the text unless it is asked for, are skipped by their form.
const (
	lnctPath       = 1
	lnctDir        = 2
	lnctMD5        = 5
	lnctSource     = 6
	lnctLLVMSource = 0x2001
)

// readLineEntries reads one of the two tables of DWARF 5, directories or files, which
// are numbered from 0: a description of the columns, then the entries.
func (d *Data) readLineEntries(c *wire.Cursor, u *Unit, t *LineTable, add func(LineFile)) {
	type column struct {
		content uint64
		form    uint16
	}
	var columns [256]column
	ncol := int(c.U8())
	for i := range columns[:ncol] {
		content, form := c.ULEB(), c.ULEB()
		columns[i] = column{content, uint16(min(form, 0xffff))}
	}

	// A column of an entry takes a byte at least.
	count := c.ULEB()
	if count > 0 && (ncol == 0 || count > uint64(c.Len()/ncol)) {
		c.Fail(c.Pos(), fmt.Errorf("%w: %d entries in %d bytes", ErrLineHeader, count, c.Len()))
		return
	}

	// The sizes of forms are those of the table's own format.
	forms := *u
	forms.Dwarf64, forms.AddrSize, forms.Version = t.h.dwarf64, t.h.addrSize, t.h.version
	for ; count > 0 && c.Err() == nil; count-- {
		var f LineFile
		for _, col := range columns[:ncol] {
			at, v := c.Pos(), readValue(&forms, c, col.form)
			switch col.content {
			case lnctPath:
				f.Name = forms.lineString(c, at, v)
			case lnctDir:
				f.Dir = v.v
			default:
				if t.Texts {
					t.readText(&forms, c, col.content, at, v)
				}
			}
		}
		t.nextText()
		t.pay(c, nameMemory)
		add(f)
	}
}

// lineString returns the bytes of a string in a line table's header.
func (u *Unit) lineString(c *wire.Cursor, at int, v value) []byte {
	d := u.data
	if v.form == formString {
		own := d.cursor(".debug_line", d.Line)
		own.Seek(v.v)
		return own.CString()
	}
	s, err := u.String(d.str(u, v))
	if err != nil {
		c.Fail(at, err)
	}
	return s
}

// readText reads a column of an entry that is about the text of a file.
func (t *LineTable) readText(forms *Unit, c *wire.Cursor, content uint64, at int, v value) {
	switch content {
	case lnctMD5:
		if v.form == formData16 && c.Err() == nil {
			t.text.MD5 = forms.data.Line[c.Pos()-16 : c.Pos()]
		}
	case lnctSource, lnctLLVMSource:
		// A producer that has no text of one file among others gives an empty one.
		text := forms.lineString(c, at, v)
		if len(text) > 0 {
			t.text.Source = text
		}
	}
}

// nextText ends the entry of a file.
func (t *LineTable) nextText() {
	if t.Texts {
		t.texts = append(t.texts, t.text)
		t.text = LineText{}
	}
}
