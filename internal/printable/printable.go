package printable

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Hidden reports whether the character r must not reach a terminal, a log or a
// page as it is, because it changes how the text around it is shown: the control
// characters C0, DEL and C1 (Unicode class Cc), the bidirectional controls
// (Unicode Standard Annex 9, table 1) and the line and paragraph separators.
func Hidden(r rune) bool {
	switch {
	case r < 0x20, 0x7f <= r && r <= 0x9f:
		return true
	case r < 0x061c:
		return false
	}
	return r == 0x061c || r == 0x200e || r == 0x200f || 0x2028 <= r && r <= 0x202e || 0x2066 <= r && r <= 0x2069
}

// String returns s with every Hidden character and every byte that is not
// UTF-8 as \xNN, byte by byte. Line breaks and tabs are Hidden, too: the result
// can be part of a line.
func String(s string) string {
	if isPlain(s) {
		return s
	}
	return string(appendEscaped(nil, []byte(s), false))
}

// AppendJSON appends s as a string of JSON, as encoding/json writes s through a JSONWriter, without escapes for HTML.
func AppendJSON(dst []byte, s string) []byte {
	if isPlain(s) && strings.IndexByte(s, '"') < 0 && strings.IndexByte(s, '\\') < 0 {
		dst = append(dst, '"')
		dst = append(dst, s...)
		return append(dst, '"')
	}

	var text bytes.Buffer
	e := json.NewEncoder(&JSONWriter{W: &text})
	e.SetEscapeHTML(false)
	err := e.Encode(s)
	if err != nil {
		panic(err) // any text can be encoded
	}
	return append(dst, text.Bytes()[:text.Len()-1]...) // without the end of the line
}

// Writer is a writer for lines of which parts come from files. It passes text on
// with Hidden characters and bytes that are not UTF-8 as \xNN, except for line
// breaks and tabs. A character that the end of a Write cuts in two is passed on
// by the next Write.
type Writer struct {
	W    io.Writer
	buf  []byte
	rest []byte // the start of a character
}

// Write implements io.Writer.
func (p *Writer) Write(text []byte) (int, error) {
	whole := text
	if len(p.rest) > 0 {
		whole = append(p.rest, text...)
	}

	// Keep an incomplete character for the next Write.
	whole, rest := cutCharacter(whole)

	p.buf = appendEscaped(p.buf[:0], whole, true)
	p.rest = append([]byte(nil), rest...)

	if _, err := p.W.Write(p.buf); err != nil {
		return 0, err
	}
	return len(text), nil
}

// JSONWriter is a writer for JSON. It passes the text on with Hidden characters
// in strings as \uNNNN, which encoding/json does for C0 alone, and with bytes that
// are not UTF-8 as the replacement character.
type JSONWriter struct {
	W    io.Writer
	buf  []byte
	rest []byte // the start of a character
}

// Write implements io.Writer.
func (p *JSONWriter) Write(text []byte) (int, error) {
	whole := text
	if len(p.rest) > 0 {
		whole = append(p.rest, text...)
	}
	whole, rest := cutCharacter(whole)

	p.buf = p.buf[:0]
	for len(whole) > 0 {
		n := plainLines(whole)
		p.buf = append(p.buf, whole[:n]...)
		whole = whole[n:]
		if len(whole) == 0 {
			break
		}

		r, size := utf8.DecodeRune(whole)
		if Hidden(r) || r == utf8.RuneError {
			p.buf = fmt.Appendf(p.buf, `\u%04x`, r)
		} else {
			p.buf = append(p.buf, whole[:size]...)
		}
		whole = whole[size:]
	}

	p.rest = append([]byte(nil), rest...)
	if _, err := p.W.Write(p.buf); err != nil {
		return 0, err
	}
	return len(text), nil
}

// appendEscaped appends text to dst, escaped as by String. If lines is set,
// line breaks and tabs are not escaped.
func appendEscaped(dst, text []byte, lines bool) []byte {
	for len(text) > 0 {
		n := shown(text, lines)
		dst = append(dst, text[:n]...)
		text = text[n:]
		if len(text) == 0 {
			break
		}

		// Escape one character, byte by byte.
		_, size := utf8.DecodeRune(text)
		for _, b := range text[:size] {
			dst = append(dst, '\\', 'x', hexDigits[b>>4], hexDigits[b&15])
		}
		text = text[size:]
	}
	return dst
}

// shown returns the length of the longest prefix without a character that appendEscaped escapes.
func shown(text []byte, lines bool) int {
	at := 0
	for at < len(text) {
		b := text[at]
		if b < utf8.RuneSelf {
			if b < 0x20 && !(lines && (b == '\n' || b == '\t')) || b == 0x7f {
				return at
			}
			at++
			continue
		}
		r, size := utf8.DecodeRune(text[at:])
		if Hidden(r) || r == utf8.RuneError && size == 1 {
			return at
		}
		at += size
	}
	return at
}

const hexDigits = "0123456789abcdef"

// isPlain reports whether s is printable ASCII.
func isPlain(s string) bool {
	if len(s) < 8 {
		for i := range len(s) {
			if s[i] < 0x20 || s[i] >= 0x7f {
				return false
			}
		}
		return true
	}
	for at := 0; at+8 <= len(s); at += 8 {
		if !plainWord(s[at:]) {
			return false
		}
	}
	return plainWord(s[len(s)-8:])
}

// plainWord reports whether the first eight bytes of s are printable ASCII: no byte has its highest bit, not even if one
// is added, and none is less than a blank, from which subtracting a blank sets that bit.
func plainWord(s string) bool {
	_ = s[7]
	w := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 | uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
	const each = 0x0101010101010101
	return (w|(w+each)|(w-0x20*each))&(0x80*each) == 0
}

// plainLines returns the length of the longest prefix of printable ASCII, line
// breaks and tabs.
func plainLines(s []byte) int {
	for i, b := range s {
		if b < 0x20 && b != '\n' && b != '\t' || b >= 0x7f {
			return i
		}
	}
	return len(s)
}

// cutCharacter splits text before its last character if only the start of that
// character is there.
func cutCharacter(text []byte) (whole, rest []byte) {
	// Only the last UTFMax bytes can be the start of an incomplete character.
	for i := len(text) - 1; i >= 0 && i >= len(text)-utf8.UTFMax; i-- {
		if utf8.RuneStart(text[i]) {
			if !utf8.FullRune(text[i:]) {
				return text[:i], text[i:]
			}
			break
		}
	}
	return text, nil
}
