package wire

import (
	"bytes"
	"testing"
)

func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{
		"":                "",
		"größe <数>":       "größe <数>",
		"\ufffd":          "\ufffd",
		"a\x1b[31mb\tc\\": `a\x1b[31mb\x09c\`,
		"\u009b1m\xc3(":   `\xc2\x9b1m\xc3(`,
	} {
		if got := Printable(in); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}

func TestPrinter(t *testing.T) {
	var out bytes.Buffer
	p := Printer{W: &out}
	for _, text := range []string{"a\tb\r\n", "\x1b[2J\x7fö\n"} {
		if n, err := p.Write([]byte(text)); n != len(text) || err != nil {
			t.Errorf("%q: %d, %v", text, n, err)
		}
	}
	if want := "a\tb\\x0d\n\\x1b[2J\\x7fö\n"; out.String() != want {
		t.Errorf("%q, want %q", &out, want)
	}
}

func TestErrorText(t *testing.T) {
	for section, want := range map[string]string{
		".debug_line":         ".debug_line+0x10: truncated",
		"section 3":           "section 3+0x10: truncated",
		".\x1b[2J\n\xff.text": `.\x1b[2J\x0a\xff.text+0x10: truncated`,
	} {
		if got := (&Error{section, 16, ErrTruncated}).Error(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
