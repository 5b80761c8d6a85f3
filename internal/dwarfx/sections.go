package dwarfx

import (
	"bytes"
	"fmt"

	"symkit/internal/wire"
	"symkit/located"
)

// Most strings that DIEs refer to are never read. So the package represents a string as a
// Str, a section and an offset in one number, and reads the string only when String is
// called. Strings in .debug_info are an exception: the bytes of that section can be
// released (Unit.Drop), so Unit.texts keeps the strings that are needed later.

var sectionNames = [...]string{
	secInfo: ".debug_info", secUnit: ".debug_info", secStr: ".debug_str", secLineStr: ".debug_line_str",
	secAltStr: "supplementary .debug_str",
}

const strShift = 60

func makeStr(sec Section, off uint64) Str {
	return Str(uint64(sec)<<strShift | min(off, 1<<strShift-1))
}

// String returns the bytes of s, of u, without their NUL. The bytes alias the section,
// unless that is .debug_info, which is the largest by far and can be released (Drop).
// A string of a missing supplementary file is empty.
func (u *Unit) String(s Str) ([]byte, error) {
	d := u.data
	sec, off, base := Section(s>>strShift), uint64(s&(1<<strShift-1)), uint64(0)
	var data []byte
	switch sec {
	case secNone:
		return nil, nil
	case secInfo:
		data, base = u.bytes, u.Off
	case secUnit:
		data = u.texts
	case secStr:
		data = d.Str
	case secLineStr:
		data = d.LineStr
	case secAltStr:
		if d.alt == nil {
			return nil, nil
		}
		data = d.alt.Str
	}

	if off-base >= uint64(len(data)) {
		return nil, &located.Error{Section: sectionNames[sec], Offset: int(base) + len(data),
			Err: fmt.Errorf("string at %#x: %w", off, located.ErrOffset)}
	}

	// The bytes of a unit can be dropped, so that a string among them is copied.
	data = data[off-base:]
	n := bytes.IndexByte(data, 0)
	if n < 0 {
		return nil, &located.Error{Section: sectionNames[sec], Offset: int(off), Err: located.ErrUnterminated}
	}
	if sec == secInfo {
		return bytes.Clone(data[:n]), nil
	}
	return data[:n:n], nil
}

// keep copies s, if it is in .debug_info, so that it outlives the unit's bytes.
func (u *Unit) keep(s Str) Str {
	if Section(s>>strShift) != secInfo {
		return s
	}
	text, err := u.String(s)
	if err != nil {
		return s
	}
	at := len(u.texts)
	u.texts = append(append(u.texts, text...), 0)
	return makeStr(secUnit, uint64(at))
}

// check returns String's error without reading the string.
func (u *Unit) check(s Str) error {
	d := u.data
	of, sec := d, Section(s>>strShift)
	if sec == secAltStr && d.alt != nil {
		of, sec = d.alt, secStr
	}
	size := 0
	switch sec {
	case secInfo, secUnit: // its end was seen when the string was skipped
		return nil
	case secStr:
		size = len(of.Str)
	case secLineStr:
		size = len(of.LineStr)
	}
	if off := uint64(s & (1<<strShift - 1)); off < uint64(min(size, of.ended[sec])) {
		return nil
	}
	_, err := u.String(s)
	return err
}

// Lost reports whether s is in the supplementary file and that file is missing.
func (d *Data) Lost(s Str) bool { return Section(s>>strShift) == secAltStr && d.alt == nil }

// cursor returns a cursor over one section.
func (d *Data) cursor(name string, data []byte) wire.Cursor {
	return wire.New(name, data, d.BigEndian)
}
