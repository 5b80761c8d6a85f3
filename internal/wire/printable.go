package wire

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable returns s with its control characters and what is not UTF-8 as \xNN:
// text out of a file must not move the cursor of the reader's terminal.
func Printable(s string) string {
	if strings.IndexFunc(s, hidden) < 0 {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && n == 1 || unicode.IsControl(r) {
			for _, c := range []byte(s[:n]) {
				fmt.Fprintf(&b, `\x%02x`, c)
			}
		} else {
			b.WriteString(s[:n])
		}
		s = s[n:]
	}
	return b.String()
}

// hidden tells whether r may need to be escaped.
func hidden(r rune) bool { return r == utf8.RuneError || unicode.IsControl(r) }

// Printer is a writer for text of which parts come from files: lines reach W with
// their ASCII control characters as \xNN, but for newlines and tabs.
type Printer struct {
	W   io.Writer
	buf []byte
}

// Write implements io.Writer.
func (p *Printer) Write(text []byte) (int, error) {
	p.buf = p.buf[:0]
	for _, c := range text {
		if c < ' ' && c != '\n' && c != '\t' || c == 0x7f {
			p.buf = fmt.Appendf(p.buf, `\x%02x`, c)
		} else {
			p.buf = append(p.buf, c)
		}
	}
	if _, err := p.W.Write(p.buf); err != nil {
		return 0, err
	}
	return len(text), nil
}
