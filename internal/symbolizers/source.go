package symbolizers

import (
	"bytes"
	"fmt"
	"math"

	"symkit/internal/printable"
	"symkit/internal/smallfile"
	"symkit/lookup"
)

// sourceFile is the text of a source file at the path in the debug information, nil if there is none.
type sourceFile struct {
	path string
	text []byte
}

// maxSource bounds the text of a source file, in bytes.
const maxSource = 16 << 20

// of returns the text of the file at a path: without reading if it is that of the last one.
func (s *sourceFile) of(path string) []byte {
	if s.path != path {
		text, _ := smallfile.Read(path, maxSource) // the file need not be here
		*s = sourceFile{path, text}
	}
	return s.text
}

// source appends the lines of source around the place of a frame, each with its number.
func (l *LLVM) source(dst []byte, f *lookup.Frame, c *Scratch) []byte {
	if l.Context <= 0 || f.File == "" {
		return dst
	}
	first := max(1, int64(f.Line)-int64(l.Context)/2)
	last := first + int64(l.Context) - 1
	width := int(math.Ceil(math.Log10(float64(last)))) // as LLVM has it, too narrow for 100
	var text bytes.Buffer
	w := &printable.Writer{W: &text}
	n := int64(0)
	for line := range bytes.Lines(c.sourceFile.of(shownFile(f.File, l.Basenames))) {
		n++
		if n > last {
			break
		}
		if n < first {
			continue
		}
		mark := "  : "
		if n == int64(f.Line) {
			mark = " >: "
		}
		line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
		fmt.Fprintf(w, "%*d%s%s\n", width, n, mark, line)
	}
	return append(dst, text.Bytes()...)
}
