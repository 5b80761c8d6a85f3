package dwarfx

import (
	"bytes"
	"fmt"

	"symkit/internal/wire"
)

// Sections holds the inflated bytes of the DWARF sections; what a file lacks
// is nil.
type Sections struct {
	Info, Abbrev           []byte
	Str, LineStr           []byte
	StrOffsets, Addr       []byte
	Line, Ranges, RngLists []byte
	Types                  []byte // .debug_types of DWARF 4
	BigEndian              bool
	// AddrSize is the file's address size in bytes: the size of the line
	// programs' addresses before DWARF 5, which do not tell their own.
	AddrSize int
}

// Section is one of the sections that offsets point into.
type Section uint8

// The sections strings lie in.
const (
	secNone Section = iota
	secInfo
	secStr
	secLineStr
	secAltStr // .debug_str of the supplementary file
)

var sectionNames = [...]string{
	secInfo: ".debug_info", secStr: ".debug_str", secLineStr: ".debug_line_str",
	secAltStr: "supplementary .debug_str",
}

// Str is the place of a string: a section and the offset in it. The zero Str
// means that there is none.
type Str uint64

const strShift = 60

func makeStr(sec Section, off uint64) Str {
	return Str(uint64(sec)<<strShift | min(off, 1<<strShift-1))
}

// String returns the bytes of s without their NUL. They alias the section, unless
// that is .debug_info, which is the largest by far and can be given up (Forget).
// A string of a supplementary file that is not there is empty.
func (d *Data) String(s Str) ([]byte, error) {
	sec, off := Section(s>>strShift), uint64(s&(1<<strShift-1))
	var data []byte
	switch sec {
	case secNone:
		return nil, nil
	case secInfo:
		data = d.Info
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
	if off >= uint64(len(data)) {
		return nil, &wire.Error{Section: sectionNames[sec], Offset: len(data),
			Err: fmt.Errorf("string at %#x: %w", off, wire.ErrOffset)}
	}
	n := bytes.IndexByte(data[off:], 0)
	if n < 0 {
		return nil, &wire.Error{Section: sectionNames[sec], Offset: int(off), Err: wire.ErrUnterminated}
	}
	if sec == secInfo {
		return bytes.Clone(data[off:][:n]), nil
	}
	return data[off:][:n:n], nil
}

// check returns String's error without reading the string.
func (d *Data) check(s Str) error {
	of, sec := d, Section(s>>strShift)
	if sec == secAltStr && d.alt != nil {
		of, sec = d.alt, secStr
	}
	size := 0
	switch sec {
	case secInfo: // it has an end, or it could not have been passed over
		return nil
	case secStr:
		size = len(of.Str)
	case secLineStr:
		size = len(of.LineStr)
	}
	if off := uint64(s & (1<<strShift - 1)); off < uint64(min(size, of.ended[sec])) {
		return nil
	}
	_, err := d.String(s)
	return err
}

// Lost tells whether s is in the supplementary file and that is not there.
func (d *Data) Lost(s Str) bool { return Section(s>>strShift) == secAltStr && d.alt == nil }

// cursor returns a cursor over one section.
func (d *Data) cursor(name string, data []byte) wire.Cursor {
	return wire.New(name, data, d.BigEndian)
}
