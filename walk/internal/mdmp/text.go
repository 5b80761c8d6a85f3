package mdmp

import (
	"encoding/binary"
	"slices"
	"unicode/utf8"
)

// Text is a string of UTF-16 in the file; String decodes it.
// The zero Text is empty.
type Text struct {
	units []byte
	big   bool
}

// maxName bounds the bytes of a name. Windows' paths have at most 32767 units.
const maxName = 1 << 16

// Len returns the size of the string in the file, in bytes.
func (t Text) Len() int { return len(t.units) }

// IsNil reports whether the dump does not have the string.
func (t Text) IsNil() bool { return t.units == nil }

// String decodes the string. A surrogate without its other half becomes
// U+FFFD.
func (t Text) String() string {
	var dst []byte
	for i := 0; i+1 < len(t.units); i += 2 {
		r := t.unit(i)

		// A high surrogate and the low surrogate after it are one character.
		if r&0xfc00 == 0xd800 && i+3 < len(t.units) {
			low := t.unit(i + 2)
			if low&0xfc00 == 0xdc00 {
				r = 0x10000 + (r&0x3ff)<<10 + low&0x3ff
				i += 2
			}
		}
		dst = utf8.AppendRune(dst, r) // a lone surrogate is written as U+FFFD
	}
	return string(dst)
}

func (t Text) unit(i int) rune {
	if t.big {
		return rune(t.units[i])<<8 | rune(t.units[i+1])
	}
	return rune(t.units[i+1])<<8 | rune(t.units[i])
}

// Valid reports whether the string is UTF-16: each surrogate has its other half.
func (t Text) Valid() bool {
	for i := 0; i+1 < len(t.units); i += 2 {
		r := t.unit(i)
		switch {
		case r&0xfc00 == 0xd800 && i+3 < len(t.units) && t.unit(i+2)&0xfc00 == 0xdc00:
			i += 2
		case r&0xf800 == 0xd800:
			return false
		}
	}
	return t.units != nil
}

// TextOf is the string in an array of units.
func TextOf(units []uint16) Text {
	end := slices.Index(units, 0)
	if end < 0 {
		end = len(units)
	}
	return Text{Append(make([]byte, 0, 2*end), binary.LittleEndian, units[:end]), false}
}
