package dwarfinfo

import (
	"bytes"
	"debug/dwarf"
	"fmt"
	"math"

	"symkit/internal/wire"
	"symkit/limits"
)

// The limits in this file protect debug/dwarf from small files in which one thing is used again and
// again: debug/dwarf copies every string and every table for each use.

// limitAbbrevs rejects abbreviation tables that units share in part: debug/dwarf keeps each of them
// separately, so that a small file could need much memory. limitAbbrevs also counts the strings of
// each abbreviation.
func (d *Info) limitAbbrevs(abbrev []byte) error {
	budget := 64*len(abbrev) + 1<<20
	seen := map[uint64]bool{}
	for i := range d.Units {
		u := &d.Units[i]
		if seen[u.abbrev] {
			continue
		}
		seen[u.abbrev] = true

		// Tables that do not overlap have at most as many bytes as the section.
		c := wire.New(".debug_abbrev", abbrev, d.bigEndian)
		c.Seek(u.abbrev)

		// Each declaration: tag, children flag, and pairs of attribute and form.
		for c.Len() > 0 && c.ULEB() != 0 && budget > 0 {
			strings := uint64(0)
			c.SkipLEB() // tag
			c.U8()      // children
			for c.Len() > 0 {
				at, attr, form := c.Pos(), c.ULEB(), c.ULEB()
				if form == formImplicitConst {
					c.SkipLEB()
				} else if stringForms[form] {
					strings++
				}
				budget -= c.Pos() - at
				if attr == 0 && form == 0 {
					break
				}
			}
			budget -= 3
			d.manyStrings = max(d.manyStrings, strings)
		}

		if c.Err() != nil {
			return c.Err()
		}
		if budget <= 0 {
			return fmt.Errorf(".debug_abbrev: units share parts of abbreviation tables: not read")
		}
	}
	return nil
}

const formImplicitConst = 0x21

// stringForms are the forms of strings in sections (DWARF 5 §7.5.6), and GNU's. Strings in place
// are not longer than the file.
var stringForms = map[uint64]bool{0x0e: true, 0x1a: true, 0x1f: true, 0x25: true, 0x26: true, 0x27: true, 0x28: true, 0x1f02: true}

// limitStrings verifies that the strings of one DIE can be read, and sets the limit on the strings
// of all DIEs: see readStrings.
func (d *Info) limitStrings(info []byte) error {
	size := uint64(len(info) + len(d.str) + len(d.lineStr))
	most := min(d.limits.Max(limits.CheckStrings, size), math.MaxInt64)
	longest := max(longestString(d.str), longestString(d.lineStr))
	if longest > 0 && d.manyStrings > most/longest {
		return fmt.Errorf(".debug_abbrev: a DIE with %d strings, of up to %d bytes: %w", d.manyStrings, longest, d.limits.Exceeded(limits.CheckStrings, size))
	}

	d.stringSize = size
	d.strings.Store(int64(most))
	return nil
}

// longestString returns the length of the longest string in a section.
func longestString(section []byte) (longest uint64) {
	for len(section) > 0 {
		n := bytes.IndexByte(section, 0)
		if n < 0 {
			n = len(section) - 1
		}
		longest, section = max(longest, uint64(n)), section[n+1:]
	}
	return longest
}

// readStrings counts the strings of a DIE that was read. It returns an error after too many.
func (d *Info) readStrings(e *dwarf.Entry) error {
	// All goroutines share one limit.
	n := 0
	for i := range e.Field {
		if s, ok := e.Field[i].Val.(string); ok {
			n += len(s)
		}
	}
	if n > 0 && d.strings.Add(int64(-n)) < 0 {
		return &wire.Error{Section: ".debug_info", Offset: int(e.Offset), Err: d.limits.Exceeded(limits.CheckStrings, d.stringSize)}
	}
	return nil
}

// Exhausted returns the error for more strings than the limit, nil within the limit.
func (d *Info) Exhausted() error {
	for _, x := range []*Info{d, d.Alt} {
		if x != nil && x.strings.Load() < 0 {
			return fmt.Errorf("%s: .debug_info: %w", x.Path, x.limits.Exceeded(limits.CheckStrings, x.stringSize))
		}
	}
	return nil
}
