package profile

import (
	"cmp"
	"encoding/binary"
	"io"
	"strings"

	"symkit/internal/wire"
	"symkit/lookup"
)

// Symbols says what is at addresses.
type Symbols struct {
	// Frames appends the functions that an address in a mapping is in, the innermost inlined one first.
	Frames func(dst []lookup.Frame, m *Mapping, addr uint64) []lookup.Frame
	// Name returns the readable name of a function.
	Name func(f *lookup.Frame) string
}

// Write writes the profile with the functions and lines of the locations that have none and that s knows.
func (p *Profile) Write(w io.Writer, s Symbols) error {
	out := &writer{symbols: s, functions: map[function]uint64{}, texts: map[string]uint64{"": 0}, next: p.functions + 1, strings: p.strings}
	if out.strings == 0 { // the first string is the empty one
		out.tail = appendBytes(out.tail, profileString, nil)
		out.strings = 1
	}
	c := wire.New("profile", p.data, false)
	for c.Len() > 0 {
		from := c.Pos()
		f := c.Field()
		switch f.Number {
		case profileMapping:
			continue // comes later, with what it has
		case profileLocation:
			sub := f.Sub
			lines := out.location(&sub, p.mappings)
			c.Inherit(&sub)
			if len(lines) > 0 {
				out.body = append(appendHead(out.body[:0], profileLocation, f.Sub.Len()+len(lines)), f.Sub.Rest()...)
				_, err := w.Write(append(out.body, lines...))
				if err != nil {
					return err
				}
				continue
			}
		}
		if c.Err() != nil {
			break
		}
		_, err := w.Write(p.data[from:c.Pos()])
		if err != nil {
			return err
		}
	}
	if c.Err() != nil {
		return c.Err()
	}
	for _, m := range p.Mappings {
		_, err := w.Write(m.append(out.body[:0], p.data[m.message[0]:m.message[1]]))
		if err != nil {
			return err
		}
	}
	_, err := w.Write(out.tail)
	return err
}

// append appends the message of a mapping. Of a field that it has twice, the last value counts.
func (m *Mapping) append(dst, message []byte) []byte {
	var has []byte
	for _, flag := range []struct {
		number int
		set    bool
	}{{mappingHasFunctions, m.functions}, {mappingHasFiles, m.files}, {mappingHasLines, m.line}, {mappingHasInlined, m.line}} {
		if flag.set {
			has = appendNumber(has, flag.number, 1)
		}
	}
	return append(append(appendHead(dst, profileMapping, len(message)+len(has)), message...), has...)
}

// writer makes the functions of a profile.
type writer struct {
	symbols   Symbols
	functions map[function]uint64 // their IDs
	texts     map[string]uint64   // the indexes of new strings
	next      uint64              // the ID of the next function
	strings   uint64              // number

	frames                     []lookup.Frame
	lines, body, message, tail []byte // tail: functions and strings, which come last
}

// function is what distinguishes functions.
type function struct {
	system, file string
	start        uint32
}

// location returns the lines of a location, as fields of its message, or nil if it has lines or nothing is known.
func (w *writer) location(c *wire.Cursor, mappings map[uint64]*Mapping) []byte {
	var id, addr uint64
	for c.Len() > 0 {
		f := c.Field()
		switch f.Number {
		case locationMapping:
			id = f.Value
		case locationAddress:
			addr = f.Value
		case locationLine:
			return nil
		}
	}
	m := mappings[id]
	if m == nil || c.Err() != nil {
		return nil
	}
	w.frames, w.lines = w.symbols.Frames(w.frames[:0], m, addr), w.lines[:0]
	for i := range w.frames {
		f := &w.frames[i]
		w.message = appendNumber(w.message[:0], lineFunction, w.function(f))
		w.message = appendNumber(w.message, lineLine, uint64(f.Line))
		w.message = appendNumber(w.message, lineColumn, uint64(f.Column))
		w.lines = appendBytes(w.lines, locationLine, w.message)
		m.functions = m.functions || f.Name != "" || f.Linkage != ""
		m.files, m.line = m.files || f.File != "", m.line || f.Line != 0
	}
	return w.lines
}

// function returns the ID of the function of a frame.
func (w *writer) function(f *lookup.Frame) uint64 {
	key := function{cmp.Or(f.Linkage, f.Name), f.File, f.StartLine}
	id, known := w.functions[key]
	if known {
		return id
	}
	id = w.next
	w.next++
	w.functions[key] = id
	name, system, file := w.text(w.symbols.Name(f)), w.text(key.system), w.text(key.file)
	message := appendNumber(nil, functionID, id)
	message = appendNumber(message, functionName, name)
	message = appendNumber(message, functionSystem, system)
	message = appendNumber(message, functionFile, file)
	w.tail = appendBytes(w.tail, profileFunction, appendNumber(message, functionStart, uint64(key.start)))
	return id
}

// text returns the index of a string. Strings of profiles are UTF-8.
func (w *writer) text(s string) uint64 {
	s = strings.ToValidUTF8(s, "\ufffd")
	n, known := w.texts[s]
	if !known {
		n = w.strings
		w.strings++
		w.texts[s] = n
		w.tail = append(appendHead(w.tail, profileString, len(s)), s...)
	}
	return n
}

// appendNumber appends a field that is a number, 0 by leaving it out.
func appendNumber(dst []byte, field int, n uint64) []byte {
	if n == 0 {
		return dst
	}
	return binary.AppendUvarint(binary.AppendUvarint(dst, uint64(field)<<3), n)
}

// appendHead appends what comes before the bytes of a field.
func appendHead(dst []byte, field, size int) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(dst, uint64(field)<<3|2), uint64(size))
}

// appendBytes appends a field that is a message or a string.
func appendBytes(dst []byte, field int, message []byte) []byte {
	return append(appendHead(dst, field, len(message)), message...)
}
