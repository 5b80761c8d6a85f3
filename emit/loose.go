package emit

import "math"

// loose reads the fields of one line as permissively as possible: any run of spaces, tabs
// and carriage returns separates fields, and hex digits may be of either case. The first
// field that is malformed sets bad, and later reads return zero.
type loose struct {
	rest []byte
	bad  bool
}

func blank(c byte) bool { return c <= ' ' && (c == ' ' || c == '\t' || c == '\r' || c == 0) }

// word returns the next field, or nil at the end of the line.
func (l *loose) word() []byte {
	l.skip()
	n := 0
	for _, c := range l.rest {
		if blank(c) {
			break
		}
		n++
	}

	w := l.rest[:n:n]
	l.rest = l.rest[n:]
	if n == 0 {
		return nil
	}
	return w
}

// words returns the number of the fields that follow.
func (l *loose) words() (n int) {
	before := true
	for _, c := range l.rest {
		now := blank(c)
		if before && !now {
			n++
		}
		before = now
	}
	return n
}

func (l *loose) skip() {
	for len(l.rest) > 0 && blank(l.rest[0]) {
		l.rest = l.rest[1:]
	}
}

// text returns the rest of the line, without the blanks around it.
func (l *loose) text() []byte {
	l.skip()
	t := l.rest
	for len(t) > 0 && blank(t[len(t)-1]) {
		t = t[:len(t)-1]
	}
	l.rest = nil
	return t[:len(t):len(t)]
}

// hex reads a hexadecimal number of up to 64 bits.
func (l *loose) hex() uint64 {
	w := l.word()
	v, ok := looseHex(w)
	if !ok {
		l.fail()
	}
	return v
}

func looseHex(w []byte) (v uint64, ok bool) {
	if len(w) == 0 {
		return 0, false
	}

	// A number of more than 64 bits is malformed.
	for _, c := range w {
		if c-'A' <= 'F'-'A' {
			c |= 0x20
		}
		d := hexValue[c]
		if d > 15 || v>>60 != 0 {
			return 0, false
		}
		v = v<<4 | uint64(d)
	}
	return v, true
}

// size reads a size. A size that does not fit 32 bits becomes the largest one.
func (l *loose) size() uint32 { return uint32(min(l.hex(), math.MaxUint32)) }

// dec reads a decimal number. A negative number (an unknown file) or one above maxNumber
// becomes noNumber.
func (l *loose) dec() uint32 {
	v, ok := looseDec(l.word())
	if !ok {
		l.fail()
		return 0
	}
	return v
}

// noNumber is a number that no record has.
const noNumber = math.MaxUint32

func looseDec(w []byte) (v uint32, ok bool) {
	digits, n := w, uint64(0)
	if len(w) > 0 && w[0] == '-' {
		digits = w[1:]
	}
	if len(digits) == 0 {
		return 0, false
	}

	// The sum is capped at maxNumber + 1, so that it cannot overflow.
	for _, c := range digits {
		c -= '0'
		if c > 9 {
			return 0, false
		}
		n = min(n*10+uint64(c), maxNumber+1)
	}
	if len(digits) < len(w) || n > maxNumber {
		return noNumber, true
	}
	return uint32(n), true
}

func (l *loose) fail() { l.bad, l.rest = true, nil }

// multiple reads the optional "m" of FUNC and PUBLIC.
func (l *loose) multiple() bool {
	l.skip()
	if len(l.rest) > 1 && l.rest[0] == 'm' && blank(l.rest[1]) {
		l.rest = l.rest[1:]
		return true
	}
	return false
}
