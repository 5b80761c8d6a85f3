package source

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"symkit/internal/printable"
)

// Excerpt is the lines around a place in a source file, as pages show them.
type Excerpt struct {
	Lines []Line
	Note  string // what is wrong with the file at hand
}

// Line is a line of a source file.
type Line struct {
	Number uint32
	Text   string // without the break at its end, cut at 400 bytes
	Hit    bool   // the line is that of the place
}

const maxLine = 400 // bytes

// Lines around that of a place.
const (
	before = 5
	after  = 4
)

// Excerpt returns the lines around a line of a file, nil for no line.
func (f Found) Excerpt(line uint32) *Excerpt {
	if line == 0 {
		return nil
	}
	x := &Excerpt{Lines: around(f.Text, line, before, after)}
	switch {
	case f.Err != nil:
		x.Note = "The file cannot be read: " + f.Err.Error()
	case len(x.Lines) == 0:
		x.Note = "The file at hand does not have this line: it is not the one that was compiled."
	case f.Other:
		x.Note = "The file at hand is not the one that was compiled: the line table has another MD5."
	}
	return x
}

// Size is about the number of bytes that a page takes for the excerpt.
func (x *Excerpt) Size() (n int) {
	for _, l := range x.Lines {
		n += 2*len(l.Text) + 80
	}
	return n
}

// around returns the lines of a text from line-before to line+after, as far as there are such.
func around(text []byte, line, before, after uint32) (lines []Line) {
	from := line - min(before, line-1)
	for n := uint32(1); n <= line+after && len(text) > 0; n++ {
		end := bytes.IndexByte(text, '\n')
		rest := text[min(max(end+1, 0), len(text)):]
		if end < 0 {
			end, rest = len(text), nil
		}
		if n >= from {
			lines = append(lines, Line{n, shown(text[:end]), n == line})
		}
		text = rest
	}
	if len(lines) == 0 || lines[len(lines)-1].Number < line {
		return nil // the text is of another file
	}
	return lines
}

// shown returns a line as it can be shown: cut, without the break.
func shown(line []byte) string {
	line = bytes.TrimSuffix(line, []byte("\r"))
	cut := min(len(line), maxLine)
	for cut < len(line) && cut > 0 && !utf8.RuneStart(line[cut]) {
		cut--
	}
	var text strings.Builder
	for _, r := range strings.ToValidUTF8(string(line[:cut]), "\ufffd") {
		// Some characters change the order in which others are shown.
		if printable.Hidden(r) && r != '\t' {
			fmt.Fprintf(&text, "\\u{%x}", r)
		} else {
			text.WriteRune(r)
		}
	}
	if cut < len(line) {
		text.WriteString("…")
	}
	return text.String()
}

// isText reports whether a text is one: valid UTF-8 without zero bytes.
func isText(text []byte) bool { return utf8.Valid(text) && bytes.IndexByte(text, 0) < 0 }
