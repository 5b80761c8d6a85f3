package symbolicate

import (
	"bytes"
	"encoding/json"
	"math/bits"
	"strconv"
	"unicode/utf8"
)

// cursor steps through the text of JSON that json.Valid has accepted, so that no step can fail. Values are parts of the
// text: nothing is allocated for them.
type cursor struct {
	text []byte
	pos  int
}

// space skips white space.
func (c *cursor) space() {
	for c.pos < len(c.text) && c.text[c.pos] <= ' ' {
		c.pos++
	}
}

// enter steps into the array or the object at the cursor; kind is '[' or '{'. It returns false for other values.
func (c *cursor) enter(kind byte) bool {
	c.space()
	if c.text[c.pos] != kind {
		return false
	}
	c.pos++
	return true
}

// next steps to the next element of an array, or the next name in an object. It returns false after the last one, and
// steps out of the array or object.
func (c *cursor) next() bool {
	c.space()
	switch c.text[c.pos] {
	case ']', '}':
		c.pos++
		return false
	case ',':
		c.pos++
		c.space()
	}
	return true
}

// value returns the text of the value at the cursor, and steps over the value.
func (c *cursor) value() []byte {
	c.space()
	from := c.pos
	switch c.text[from] {
	case '"':
		c.skipString()
	case '[', '{':
		for depth := 0; ; {
			switch c.text[c.pos] {
			case '"':
				c.skipString()
				continue
			case '[', '{':
				depth++
			case ']', '}':
				depth--
			}
			c.pos++
			if depth == 0 {
				return c.text[from:c.pos]
			}
		}
	default:
		for c.pos < len(c.text) && c.text[c.pos] > ' ' && c.text[c.pos] != ',' && c.text[c.pos] != ']' && c.text[c.pos] != '}' {
			c.pos++
		}
	}
	return c.text[from:c.pos]
}

// skipString steps over the string at the cursor.
func (c *cursor) skipString() {
	for c.pos++; c.text[c.pos] != '"'; c.pos++ {
		if c.text[c.pos] == '\\' {
			c.pos++
		}
	}
	c.pos++
}

// name returns the name of a member of an object, and steps to the value.
func (c *cursor) name() string {
	name, _ := stringOf(c.value())
	c.space()
	c.pos++ // the colon
	return name
}

// stringOf returns the string of a value.
func stringOf(value []byte) (s string, ok bool) {
	if value[0] != '"' {
		return "", false
	}
	if bytes.IndexByte(value, '\\') < 0 {
		return string(value[1 : len(value)-1]), true
	}
	return s, json.Unmarshal(value, &s) == nil
}

// integer is a number without a fraction.
type integer struct {
	n        uint64
	negative bool
	large    bool // it needs more than 64 bits
}

// intOf returns the integer of a value.
func intOf(value []byte) (i integer, ok bool) {
	digits := value
	if value[0] == '-' {
		digits, i.negative = value[1:], true
	}
	for _, c := range digits {
		c -= '0'
		if c > 9 {
			return i, false
		}
		high, low := bits.Mul64(i.n, 10)
		sum, carry := bits.Add64(low, uint64(c), 0)
		i.n, i.large = sum, i.large || high > 0 || carry > 0
	}
	i.negative = i.negative && (i.n > 0 || i.large)
	return i, true
}

// appendString appends a string of JSON as Python writes it: all but printable ASCII is escaped. What is not UTF-8 becomes
// U+FFFD.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c < 0x7f && c != '"' && c != '\\' {
			i++
			continue
		}
		dst = append(dst, s[from:i]...)
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			dst = appendRune(dst, r)
			i += n
			from = i
			continue
		}
		dst = append(dst, '\\')
		switch c {
		case '"', '\\':
			dst = append(dst, c)
		case '\n':
			dst = append(dst, 'n')
		case '\r':
			dst = append(dst, 'r')
		case '\t':
			dst = append(dst, 't')
		case '\b':
			dst = append(dst, 'b')
		case '\f':
			dst = append(dst, 'f')
		default:
			dst = appendUnit(dst[:len(dst)-1], rune(c))
		}
		i++
		from = i
	}
	dst = append(dst, s[from:]...)
	return append(dst, '"')
}

// appendRune appends a character as one or two escapes.
func appendRune(dst []byte, r rune) []byte {
	if r >= 0x10000 {
		r -= 0x10000
		return appendUnit(appendUnit(dst, 0xd800+r>>10), 0xdc00+r&0x3ff)
	}
	return appendUnit(dst, r)
}

func appendUnit(dst []byte, r rune) []byte {
	const hex = "0123456789abcdef"
	return append(dst, '\\', 'u', hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15])
}

// appendHex appends a number as a string in hexadecimal.
func appendHex(dst []byte, n uint64) []byte {
	dst = append(dst, `"0x`...)
	return append(strconv.AppendUint(dst, n, 16), '"')
}
