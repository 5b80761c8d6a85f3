package emit

// hexValue maps the digits of the format, which are in lower case, to their values, and
// all other bytes to 0xff.
var hexValue = func() (t [256]uint8) {
	for i := range t {
		t[i] = 0xff
	}
	for i := range hexDigits {
		t[hexDigits[i]] = uint8(i)
	}
	return t
}()

// fields reads the fields of one line in order. The first failure is kept; later reads
// return zero.
type fields struct {
	line []byte
	pos  int  // of the next field
	more bool // a field follows: at the start, and after each separator
	err  error
	at   int // position of err in line
}

func (f *fields) fail(at int, err error) {
	if f.err == nil {
		f.at, f.err = at, err
	}
	f.pos, f.more = len(f.line), false
}

// next skips the separator after a field that ended at end.
func (f *fields) next(end int) {
	f.pos, f.more = end, false
	if end < len(f.line) {
		f.pos, f.more = end+1, true
	}
}

// number checks a number whose digits are line[f.pos:end], and moves to the next field. The
// result is false if the number is rejected.
func (f *fields) number(end, maxDigits int) bool {
	// A separator in place of the number is reported as an extra space, not as a missing
	// field.
	switch {
	case !f.more || f.pos == len(f.line):
		f.fail(len(f.line), errMissing)
	case f.line[f.pos] == ' ':
		f.fail(f.pos, errExtra)
	case end < len(f.line) && f.line[end] != ' ':
		f.fail(end, errNumber)
	case end-f.pos > maxDigits:
		f.fail(f.pos, errRange)
	default:
		f.next(end)
		return true
	}
	return false
}

// hex reads a hexadecimal number of at most maxDigits digits.
func (f *fields) hex(maxDigits int) (v uint64) {
	// Overflow is not checked here: number bounds the digits.
	end := f.pos
	for _, c := range f.line[f.pos:] {
		d := hexValue[c]
		if d > 15 {
			break
		}
		v = v<<4 | uint64(d)
		end++
	}
	if !f.number(end, maxDigits) {
		return 0
	}
	return v
}

func (f *fields) hex64() uint64 { return f.hex(16) }
func (f *fields) hex32() uint32 { return uint32(f.hex(8)) }

// dec reads a decimal number up to maxNumber.
func (f *fields) dec() uint32 {
	// Ten digits fit in 64 bits, so number bounds the digits before the value is
	// compared.
	start, end, v := f.pos, f.pos, uint64(0)
	for _, c := range f.line[f.pos:] {
		c -= '0'
		if c > 9 {
			break
		}
		v = v*10 + uint64(c)
		end++
	}
	if !f.number(end, 10) {
		return 0
	}
	if v > maxNumber {
		f.fail(start, errRange)
		return 0
	}
	return uint32(v)
}

// codeRange reads an address and a size whose sum does not wrap.
func (f *fields) codeRange() Range {
	start := f.pos
	r := Range{f.hex64(), f.hex32()}
	if r.Addr+uint64(r.Size) < r.Addr {
		f.fail(start, errRange)
	}
	return r
}

// word reads a field of printable ASCII without spaces.
func (f *fields) word() []byte {
	start := f.pos
	end := start
	for end < len(f.line) && f.line[end] > ' ' && f.line[end] < 0x7f {
		end++
	}

	// A word ends at a space or at the end of the line; any other byte is not allowed in
	// it.
	switch {
	case !f.more || start == len(f.line):
		f.fail(len(f.line), errMissing)
		return nil
	case end < len(f.line) && f.line[end] != ' ':
		f.fail(end, errText)
		return nil
	case end == start:
		f.fail(start, errExtra)
		return nil
	case end-start > maxWord:
		f.fail(start, errTooLong)
		return nil
	}

	f.next(end)
	return f.line[start:end:end]
}

// name reads the rest of the line as a name.
func (f *fields) name() []byte {
	// Readers take spaces at the ends for separators.
	name := f.line[f.pos:]
	switch {
	case len(name) == 0:
		f.fail(f.pos, errMissing)
	case name[0] == ' ':
		f.fail(f.pos, errExtra)
	case name[len(name)-1] == ' ':
		f.fail(len(f.line)-1, errExtra)
	case len(name) > maxName:
		f.fail(f.pos, errTooLong)
	default:
		if bad := badText(name); bad >= 0 {
			f.fail(f.pos+bad, errText)
			return nil
		}
		f.pos, f.more = len(f.line), false
		return name[:len(name):len(name)]
	}
	return nil
}

// multiple reads the optional "m" of FUNC and PUBLIC.
func (f *fields) multiple() bool {
	if rest := f.line[f.pos:]; len(rest) == 0 || rest[0] != 'm' || len(rest) > 1 && rest[1] != ' ' {
		return false
	}
	f.next(f.pos + 1)
	return true
}

// end fails if anything follows the last field.
func (f *fields) end() {
	if f.more {
		f.fail(f.pos, errExtra)
	}
}

// flag reads a 0 or a 1.
func (f *fields) flag() bool {
	start := f.pos
	v := f.hex32()
	if v > 1 {
		f.fail(start, errRange)
	}
	return v == 1
}

// rules reads the rest of the line as rules of a STACK CFI record.
func (f *fields) rules() []byte {
	rules := f.line[f.pos:]
	switch bad := badRules(rules); {
	case f.err != nil:
	case !f.more || len(rules) == 0:
		f.fail(len(f.line), errMissing)
	case len(rules) > maxName:
		f.fail(f.pos, errTooLong)
	case bad >= 0:
		f.fail(f.pos+bad, errRules)
	default:
		f.pos, f.more = len(f.line), false
		return rules[:len(rules):len(rules)]
	}
	return nil
}
