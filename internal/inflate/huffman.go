package inflate

import "math/bits"

// This file makes decoding tables. The next bits of the stream, as many as the width of
// a table, are the index of an entry, which says how many bits to consume and what they
// mean. Codes longer than the width continue in a subtable.

// RFC 1951 §3.2.5–3.2.7: the alphabets and their limits.
const (
	maxCodeBits  = 15  // longest literal/length or distance code
	maxLitSyms   = 286 // HLIT + 257 at most; 286 and 287 exist only in the fixed code
	maxDistSyms  = 30  // HDIST + 1 at most; 30 and 31 exist only in the fixed code
	fixedLitSyms = 288
	fixedDists   = 32
	numPreSyms   = 19 // code length alphabet
	endOfBlock   = 256
)

// Width of the first lookup of each table, in bits.
const (
	litBits  = 10
	distBits = 8
	preBits  = 7 // the longest code length code: no subtables
)

// Table sizes, powers of two so that a masked index needs no bounds check.
//
// A subtable of 2^s entries holds a complete subtree of depth s, so at least
// s+1 codes: all subtables together have at most n·2^s/(s+1) entries for n
// symbols and s = 15 − first width. That is 288·32/6 = 1536 entries here for
// literals (1024+1536 ≤ 4096) and 32·128/8 = 512 for distances (256+512 ≤ 1024).
const (
	litSize  = 4096
	distSize = 1024
	litMask  = litSize - 1
	distMask = distSize - 1
)

// An entry of any table has in bits 0–7 the number of bits to consume, those of the
// code and its extra bits; in bits 8–15 the width of the next lookup (both are then
// what BEXTR takes); in bits 16–23 the number of bits of the code alone. The rest:
//
//	literal    bit 63, and the byte from bit 32
//	value      from bit 32 the base length, base distance or code length symbol
//	subtable   bit 25; bits 16–23 its width, from bit 32 its first index
//	end, error bit 24; bit 26 set: end of block, else no such code or symbol
//
// Bits 24 and 25 are clear in literals and values.
const (
	entryLiteral = 1 << 63
	entryStop    = 1 << 24
	entrySub     = 1 << 25
	entryEnd     = 1 << 26
	entryInvalid = entryStop
	bitsMask     = 63
	nextShift    = 8
	codeShift    = 16
	codeMask     = 15
	valueShift   = 32
)

// litSymbols, distSymbols and preSymbols have the entry of each symbol without the
// length of its code: the kind, the value, the width of the next lookup and, in bits
// 0–7, the number of extra bits (RFC 1951 §3.2.5).
var (
	litSymbols  = makeLitSymbols()
	distSymbols = makeDistSymbols()
	preSymbols  = makePreSymbols()
)

func makeLitSymbols() (s [fixedLitSyms]uint64) {
	for i := range endOfBlock {
		s[i] = entryLiteral | uint64(i)<<valueShift | litBits<<nextShift
	}

	s[endOfBlock] = entryStop | entryEnd
	base := uint64(3)
	for i := range uint64(28) {
		extra := uint64(0)
		if i >= 8 {
			extra = i/4 - 1
		}
		s[257+i] = base<<valueShift | distBits<<nextShift | extra
		base += 1 << extra
	}

	s[285] = 258<<valueShift | distBits<<nextShift // not 284's last value plus one
	s[286] = entryInvalid
	s[287] = entryInvalid
	return s
}

func makeDistSymbols() (s [fixedDists]uint64) {
	base := uint64(1)
	for i := range uint64(maxDistSyms) {
		extra := uint64(0)
		if i >= 4 {
			extra = i/2 - 1
		}
		s[i] = base<<valueShift | litBits<<nextShift | extra
		base += 1 << extra
	}
	s[30] = entryInvalid
	s[31] = entryInvalid
	return s
}

func makePreSymbols() (s [numPreSyms]uint64) {
	for i := range s {
		s[i] = uint64(i) << valueShift
	}
	return s
}

// entryOf adds the length of a code, n bits, to the entry of its symbol.
func entryOf(symbol uint64, n int) uint64 {
	return symbol + uint64(n) | uint64(n)<<codeShift
}

// build fills table, whose first lookup takes width bits, for the code with the given
// lengths (RFC 1951 §3.2.2). It reports whether such a code is allowed: a complete one,
// one with a single code of one bit, or one without codes. zlib and compress/flate
// accept the same. Bits that are no code are an error only when they are decoded.
func build(table []uint64, width int, lengths []uint8, symbols []uint64) bool {
	var count, next [maxCodeBits + 2]int
	for _, n := range lengths {
		count[n&15]++
	}

	left := 1 // codes of length n that are still free
	for n := 1; n <= maxCodeBits; n++ {
		left = left*2 - count[n]
		if left < 0 {
			return false // over-subscribed
		}
		next[n+1] = next[n] + count[n]
	}

	used := next[maxCodeBits+1]
	if left > 0 {
		if used > 1 || count[1] != used {
			return false // incomplete
		}
		fillDegenerate(table[:1<<width], lengths, symbols, used == 1)
		return true
	}

	// Sort the symbols by length, then by number: the canonical order of their codes.
	var sorted [fixedLitSyms]uint16
	for sym, n := range lengths {
		if n != 0 {
			i := &next[n&15]
			sorted[*i] = uint16(sym)
			*i++
		}
	}

	fill(table, width, sorted[:used], lengths, symbols, &count)
	return true
}

// fillDegenerate makes the table of a code with one symbol, whose code is the bit 0, or
// with no symbol.
func fillDegenerate(table []uint64, lengths []uint8, symbols []uint64, one bool) {
	even := uint64(entryInvalid)
	if one {
		for sym, n := range lengths {
			if n != 0 {
				even = entryOf(symbols[sym], 1)
			}
		}
	}

	for i := 0; i < len(table); i += 2 {
		table[i], table[i+1] = even, entryInvalid
	}
}

// fill makes the table of a complete code. Codes are counted up in canonical order, but
// bit-reversed, as they come from the stream. The table is filled for codes of length n,
// and doubled for each greater length.
func fill(table []uint64, width int, sorted []uint16, lengths []uint8, symbols []uint64, count *[maxCodeBits + 2]int) {
	size, code := 1, 0
	for n := 1; n <= width; n++ {
		copy(table[size:2*size], table[:size])
		size *= 2
		for _, sym := range sorted[:count[n]] {
			table[code] = entryOf(symbols[sym], n)
			code = nextCode(code, n)
		}
		sorted = sorted[count[n]:]
	}
	fillSub(table, width, code, sorted, lengths, symbols)
}

// nextCode adds one to a bit-reversed code of n bits; after the last code comes 0. The
// result is also the next code if that has more bits, since zeros are appended to a
// longer code: at the top, in reversed order.
func nextCode(code, n int) int {
	clear := bits.Len(uint(code ^ (1<<n - 1))) // highest 0 bit, counted from 1
	if clear == 0 {
		return 0
	}
	bit := 1 << (clear - 1)
	return code&(bit-1) | bit
}

// fillSub makes the subtables for the codes longer than width.
func fillSub(table []uint64, width, code int, sorted []uint16, lengths []uint8, symbols []uint64) {
	end := 1 << width // of the used part of the table
	start, sub, prefix := 0, 0, -1
	for i, sym := range sorted {
		n := int(lengths[sym])

		// The first code of a prefix begins a subtable.
		if p := code & (1<<width - 1); p != prefix {
			prefix, start = p, end
			sub = subWidth(sorted[i:], lengths, width)
			end += 1 << sub
			table[prefix] = entrySub | uint64(sub)<<codeShift | uint64(start)<<valueShift
		}

		e := entryOf(symbols[sym], n)
		for j := code >> width; j < 1<<sub; j += 1 << (n - width) {
			table[start+j] = e
		}
		code = nextCode(code, n)
	}
}

// subWidth returns the width of the subtable whose first code is the first of sorted:
// that of the subtable's longest code. The subtable has as many codes as it takes to
// fill it.
func subWidth(sorted []uint16, lengths []uint8, width int) int {
	sub := int(lengths[sorted[0]]) - width
	free := 1 << sub
	for _, sym := range sorted {
		n := int(lengths[sym]) - width
		free <<= n - sub
		sub = n
		free--
		if free == 0 {
			break
		}
	}
	return sub
}
