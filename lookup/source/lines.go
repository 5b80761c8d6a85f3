package source

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"symkit/internal/printable"
)

// Line is a line of a source file.
type Line struct {
	Number uint32
	Text   string // without the break at its end, cut at 400 bytes
}

const maxLine = 400 // bytes

// Around returns the lines of a text from line-before to line+after, as far as there are such.
func Around(text []byte, line uint32, before, after uint32) (lines []Line) {
	if line == 0 {
		return nil
	}
	from := line - min(before, line-1)
	for n := uint32(1); n <= line+after && len(text) > 0; n++ {
		end := bytes.IndexByte(text, '\n')
		rest := text[min(max(end+1, 0), len(text)):]
		if end < 0 {
			end, rest = len(text), nil
		}
		if n >= from {
			lines = append(lines, Line{n, shown(text[:end])})
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
