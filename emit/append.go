package emit

import (
	"encoding/binary"
	"math/bits"
)

var (
	lastDec  [1000]uint32 // the last three digits of numbers, the first one in the lowest byte
	smallDec [1000]uint32
	smallHex [256]uint32
)

func init() {
	for i := range uint32(len(lastDec)) {
		text := zeros&0xffffff + (i/100 | i/10%10<<8 | i%10<<16)
		lastDec[i] = text

		// Leading zeros are shifted out.
		switch {
		case i < 10:
			smallDec[i] = text>>16 | 1<<24
		case i < 100:
			smallDec[i] = text>>8 | 2<<24
		default:
			smallDec[i] = text | 3<<24
		}
	}

	for i := range len(smallHex) {
		high, low := uint32(hexDigits[i>>4]), uint32(hexDigits[i&15])
		smallHex[i] = high | low<<8 | 2<<24
		if i < 16 {
			smallHex[i] = low | 1<<24
		}
	}
}

// appendHex appends v in lower-case hex.
func appendHex(dst []byte, v uint64) []byte {
	if v < uint64(len(smallHex)) {
		return appendSmall(dst, smallHex[v])
	}
	if high := v >> 32; high != 0 {
		dst = appendHex(dst, high)
		return binary.BigEndian.AppendUint64(dst, hexWord(uint32(v)))
	}

	// Eight digits are always written; the slice then ends after the digits that count.
	n := (bits.Len32(uint32(v)) + 3) / 4
	dst = binary.BigEndian.AppendUint64(dst, hexWord(uint32(v))<<(8*(8-n)))
	return dst[:len(dst)-8+n]
}

// appendSmall appends an element of smallDec or smallHex.
func appendSmall(dst []byte, text uint32) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, text)
	return dst[:len(dst)-4+int(text>>24)]
}

// hexWord returns the eight hex digits of v, the last one in the lowest byte.
func hexWord(v uint32) uint64 {
	// Spread the eight half bytes over the bytes of a word.
	x := uint64(v)
	x = (x<<16 | x) & 0x0000ffff0000ffff
	x = (x<<8 | x) & 0x00ff00ff00ff00ff
	x = (x<<4 | x) & (ones * 15)
	letters := (x + ones*6) >> 4 & ones // 1 where a digit is above 9
	return x + zeros + letters*('a'-10-'0')
}

// appendDec appends a line, file, origin or depth number. A number above maxNumber, which
// consumers cannot hold, becomes 0.
func appendDec(dst []byte, v uint32) []byte {
	switch {
	case v < 1e3:
		return appendSmall(dst, smallDec[v])
	case v < 1e6:
		first := smallDec[v/1e3]
		n := first >> 24
		text := uint64(lastDec[v%1e3])<<(8*n&63) | uint64(first&0xffffff)
		dst = binary.LittleEndian.AppendUint64(dst, text)
		return dst[:len(dst)-5+int(n)]
	case v > maxNumber:
		return append(dst, '0')
	case v >= 1e8:
		dst = appendDec(dst, v/1e8)
		return binary.LittleEndian.AppendUint64(dst, decWord(v%1e8)|zeros)
	}

	// Seven or eight digits: write eight without the leading zero.
	x := decWord(v)
	leading := bits.TrailingZeros64(x) / 8
	dst = binary.LittleEndian.AppendUint64(dst, (x|zeros)>>(8*leading))
	return dst[:len(dst)-leading]
}

// decWord returns the values of the eight decimal digits of v, the first one in the
// lowest byte. v is below 10^8. Each step splits every lane of the word into a quotient and
// a remainder in two lanes of half the width. The quotients by multiplication are exact for
// numbers of these sizes.
func decWord(v uint32) uint64 {
	high := uint64(v / 1e4)
	x := high | (uint64(v)-high*1e4)<<32
	high = x * 10486 >> 20 & 0x0000007f_0000007f // of 100
	x = high | (x-high*100)<<16
	high = x * 103 >> 10 & 0x000f_000f_000f_000f // of 10
	return high | (x-high*10)<<8
}

// append appends the range. The size is cut at the last address, because the Reader
// rejects a sum that wraps.
func (r Range) append(dst []byte) []byte {
	dst = appendHex(dst, r.Addr)
	return appendHex(append(dst, ' '), min(uint64(r.Size), ^r.Addr))
}

// Append appends the MODULE line to dst. OS, Arch and ID are escaped like names, and
// their spaces too.
func (m Module) Append(dst []byte) []byte {
	dst = appendWord(append(dst, "MODULE "...), m.OS)
	dst = appendWord(append(dst, ' '), m.Arch)
	dst = appendWord(append(dst, ' '), m.ID)
	dst = appendName(append(dst, ' '), []byte(m.Name))
	return append(dst, '\n')
}

// Append appends the INFO line to dst.
func (i Info) Append(dst []byte) []byte {
	dst = appendWord(append(dst, "INFO "...), i.Key)
	if text := trim([]byte(i.Text)); len(text) > 0 {
		dst = appendName(append(dst, ' '), text)
	}
	return append(dst, '\n')
}

// Append appends the FILE line to dst.
func (f File) Append(dst []byte) []byte {
	dst = appendDec(append(dst, "FILE "...), f.Num)
	dst = appendName(append(dst, ' '), f.Name)
	return append(dst, '\n')
}

// Append appends the INLINE_ORIGIN line to dst. The first character of a name that begins
// with a number is escaped: readers would take the number for the file number of the
// record's old form.
func (o InlineOrigin) Append(dst []byte) []byte {
	dst = appendDec(append(dst, "INLINE_ORIGIN "...), o.Num)
	dst = append(dst, ' ')
	if name := trim(o.Name); beginsWithNumber(name) {
		dst = appendEscaped(dst, name, 1)
	} else {
		dst = appendName(dst, name)
	}
	return append(dst, '\n')
}

// AppendSound is Append for a name for which IsOriginName returns true.
func (o InlineOrigin) AppendSound(dst []byte) []byte {
	dst = appendDec(append(dst, "INLINE_ORIGIN "...), o.Num)
	dst = append(append(dst, ' '), o.Name...)
	return append(dst, '\n')
}

// Append appends the FUNC line to dst.
func (f Func) Append(dst []byte) []byte {
	dst = appendName(f.appendBegin(dst), f.Name)
	return append(dst, '\n')
}

// AppendSound is Append for a name for which IsOriginName returns true.
func (f Func) AppendSound(dst []byte) []byte {
	dst = append(f.appendBegin(dst), f.Name...)
	return append(dst, '\n')
}

// appendBegin appends the fields before the name.
func (f *Func) appendBegin(dst []byte) []byte {
	dst = append(dst, "FUNC "...)
	if f.Multiple {
		dst = append(dst, "m "...)
	}
	dst = Range{f.Addr, f.Size}.append(dst)
	dst = appendHex(append(dst, ' '), uint64(f.ParamSize))
	return append(dst, ' ')
}

// Append appends the line record to dst.
func (l Line) Append(dst []byte) []byte {
	dst = Range{l.Addr, l.Size}.append(dst)
	dst = appendDec(append(dst, ' '), l.Line)
	dst = appendDec(append(dst, ' '), l.File)
	return append(dst, '\n')
}

// Append appends the INLINE lines to dst: one for every maxRanges ranges.
func (i *Inline) Append(dst []byte) []byte {
	// Consumers limit the ranges of a record, so a long list continues in further
	// records.
	for left := i.Ranges; len(left) > 0; {
		n := min(len(left), maxRanges)
		dst = appendDec(append(dst, "INLINE "...), i.Depth)
		dst = appendDec(append(dst, ' '), i.CallLine)
		dst = appendDec(append(dst, ' '), i.CallFile)
		dst = appendDec(append(dst, ' '), i.Origin)
		for _, r := range left[:n] {
			dst = r.append(append(dst, ' '))
		}
		dst = append(dst, '\n')
		left = left[n:]
	}
	return dst
}

// Append appends the PUBLIC line to dst.
func (p Public) Append(dst []byte) []byte {
	dst = append(dst, "PUBLIC "...)
	if p.Multiple {
		dst = append(dst, "m "...)
	}

	dst = appendHex(dst, p.Addr)
	dst = appendHex(append(dst, ' '), uint64(p.ParamSize))
	dst = appendName(append(dst, ' '), p.Name)
	return append(dst, '\n')
}

// Append appends the STACK CFI INIT line to dst.
func (s StackCFIInit) Append(dst []byte) []byte {
	dst = Range{s.Addr, s.Size}.append(append(dst, "STACK CFI INIT "...))
	dst = appendRules(append(dst, ' '), s.Rules)
	return append(dst, '\n')
}

// Append appends the STACK CFI line to dst.
func (s StackCFI) Append(dst []byte) []byte {
	// A row without changes needs no record.
	if len(s.Rules) == 0 {
		return dst
	}
	dst = appendHex(append(dst, "STACK CFI "...), s.Addr)
	dst = appendRules(append(dst, ' '), s.Rules)
	return append(dst, '\n')
}

// NewRules returns rules in the form in which StackCFIInit and StackCFI write them.
func NewRules(rules []byte) Rules {
	rest := append(make([]byte, 0, len(rules)+2), ' ')
	return Rules{append(appendRules(rest, rules), '\n')}
}

// IsZero reports whether r is the zero Rules, which must not be appended.
func (r Rules) IsZero() bool { return r.rest == nil }

// AppendInit appends the same text as StackCFIInit.Append for these rules.
func (r Rules) AppendInit(dst []byte, addr uint64, size uint32) []byte {
	dst = Range{addr, size}.append(append(dst, "STACK CFI INIT "...))
	return append(dst, r.rest...)
}

// Append appends the same text as StackCFI.Append for these rules, which are not empty.
func (r Rules) Append(dst []byte, addr uint64) []byte {
	dst = appendHex(append(dst, "STACK CFI "...), addr)
	return append(dst, r.rest...)
}

// Append appends the STACK WIN line to dst.
func (s StackWin) Append(dst []byte) []byte {
	dst = appendHex(append(dst, "STACK WIN "...), uint64(s.Type))
	dst = Range{s.Addr, s.CodeSize}.append(append(dst, ' '))
	for _, size := range [...]uint32{s.PrologueSize, s.EpilogueSize, s.ParamSize,
		s.SavedRegsSize, s.LocalSize, s.MaxStackSize} {
		dst = appendHex(append(dst, ' '), uint64(size))
	}

	// The record ends in a flag and the program, or in a flag and AllocatesBP.
	switch {
	case len(s.Program) > 0:
		dst = appendName(append(dst, " 1 "...), s.Program)
	case s.AllocatesBP:
		dst = append(dst, " 0 1"...)
	default:
		dst = append(dst, " 0 0"...)
	}
	return append(dst, '\n')
}
