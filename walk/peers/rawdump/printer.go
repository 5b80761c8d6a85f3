package rawdump

import (
	"bufio"
	"fmt"

	"symkit/internal/printable"
	"symkit/walk/internal/mdmp"
)

// printer has the dump, and the writer for its text.
type printer struct {
	*bufio.Writer
	err error // the first of the Writer

	d     *mdmp.Dump
	brief bool
}

// printf writes text.
func (p *printer) printf(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p, format, args...)
	}
}

// text writes text that has been formatted.
func (p *printer) text(text []byte) {
	if p.err == nil {
		_, p.err = p.Write(text)
	}
}

// record writes the fields of a record under a title. Their names are as wide as width.
func (p *printer) record(title string, width int, record any) {
	p.printf("%s\n", title)
	p.form(mdmp.Form{Width: width}, record)
}

// form writes the fields of a record.
func (p *printer) form(f mdmp.Form, record any) { p.text(f.Append(p.AvailableBuffer(), record)) }

// line writes text as a field.
func (p *printer) line(width int, name, text string) { p.printf("  %-*s = %s\n", width, name, text) }

// wide returns text for one line: that of a string, or none if the string is not UTF-16.
func wide(t mdmp.Text, none string) string {
	if !t.Valid() {
		return none
	}
	return printable.String(t.String())
}
