package mdmp

import (
	"bytes"
	"iter"
	"strconv"
	"strings"

	"symkit/internal/wire"
	"symkit/walk"
)

// readMaps decodes /proc/PID/maps. A malformed line is lost alone.
func (d *Dump) readMaps(c wire.Cursor) error {
	at := c.Pos()
	rest := c.Bytes(uint64(c.Len()))
	if c.Err() != nil {
		return c.Err()
	}

	// Lines are cut off one at a time, because a loss names the offset of its line.
	for len(rest) > 0 {
		line, after, _ := bytes.Cut(rest, []byte{'\n'})
		m, ok := parseMapping(line)
		switch {
		case ok:
			d.Maps = append(d.Maps, m)
		// NULs at the end of the stream are no malformed line.
		case len(bytes.Trim(line, "\x00")) > 0:
			d.lose(LinuxMapsStream, &wire.Error{Section: Section, Offset: at, Err: ErrLine})
		}
		at += len(rest) - len(after)
		rest = after
	}
	return nil
}

// parseMapping parses "BEGIN-END rwxp OFFSET MAJOR:MINOR INODE PATH" (proc(5)).
func parseMapping(line []byte) (m Mapping, ok bool) {
	var f [5][]byte
	for i := range f {
		line = bytes.TrimLeft(line, " ")
		f[i], line, _ = bytes.Cut(line, []byte{' '})
	}

	// The path is the rest of the line: a path can contain blanks.
	m.Path = bytes.TrimLeft(line, " ")
	// The range and the device are pairs of hexadecimal numbers.
	begin, end, _ := bytes.Cut(f[0], []byte{'-'})
	major, minor, _ := bytes.Cut(f[3], []byte{':'})
	ok = number(begin, 16, &m.Begin) && number(end, 16, &m.End) && m.Begin < m.End &&
		len(f[1]) == 4 && number(f[2], 16, &m.Offset) && number(f[4], 10, &m.Inode)
	var dev [2]uint64
	if !ok || !number(major, 16, &dev[0]) || !number(minor, 16, &dev[1]) {
		return Mapping{}, false
	}

	m.Major, m.Minor = uint32(dev[0]), uint32(dev[1])
	m.Read, m.Write, m.Execute, m.Private = f[1][0] == 'r', f[1][1] == 'w', f[1][2] == 'x', f[1][3] == 'p'
	return m, true
}

func number(b []byte, base int, out *uint64) bool {
	v, err := strconv.ParseUint(string(b), base, 64)
	*out = v
	return err == nil
}

// Fields yields the names and values of a file of lines "NAME:VALUE" (cpuinfo, status) or
// "NAME=VALUE" (lsb-release). Blanks and quotes around names and values are removed. Lines
// without the separator are skipped.
func Fields(file []byte, separator byte) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for line := range bytes.SplitSeq(file, []byte{'\n'}) {
			name, value, ok := bytes.Cut(line, []byte{separator})
			if ok && !yield(unquoted(name), unquoted(value)) {
				return
			}
		}
	}
}

func unquoted(b []byte) string {
	b = bytes.TrimSpace(b)
	if len(b) >= 2 && b[0] == '"' && b[len(b)-1] == '"' {
		b = b[1 : len(b)-1]
	}
	return string(b)
}

// AuxV yields the entries of the auxiliary vector, AT_NULL excluded.
func (d *Dump) AuxV() iter.Seq2[uint64, uint64] {
	return func(yield func(uint64, uint64) bool) {
		// An entry is two words of the process's size.
		size := 4
		if d.System.CPU.Wide() {
			size = 8
		}
		c := wire.New(Section, d.File(LinuxAuxvStream), d.BigEndian)
		for c.Len() >= 2*size {
			t, v := c.Uint(size), c.Uint(size)
			if t == 0 || !yield(t, v) {
				return
			}
		}
	}
}

// Limits returns the lines of /proc/PID/limits, whose columns are separated by two or more
// blanks. A line without both limits is skipped.
func (d *Dump) Limits() (limits []walk.Limit) {
	head := true
	for line := range bytes.SplitSeq(d.File(LinuxLimitsStream), []byte{'\n'}) {
		// The name of a limit has single blanks, so only two blanks end a column.
		var columns []string
		for column := range strings.SplitSeq(string(line), "  ") {
			column = strings.TrimSpace(column)
			if column != "" {
				columns = append(columns, column)
			}
		}

		// The first line has the headings of the columns. Some limits have no unit.
		columns = append(columns, "n/a")
		if !head && len(columns) > 3 {
			limits = append(limits, walk.Limit{Name: columns[0], Soft: columns[1], Hard: columns[2], Unit: columns[3]})
		}
		head = head && len(line) == 0
	}
	return limits
}
