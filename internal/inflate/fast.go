package inflate

import (
	"encoding/binary"
	"unsafe"
)

// The bytes that one round of fast needs at both ends, so that it needs no further checks.
//
// Input: a round refills at most twice. A refill reads 8 bytes and advances by
// at most 7, so a round reads at most the 15 bytes from in.
//
// Output: a round writes three literals, or at most two and a match. A match
// writes 16 bytes or, in vectors of 16, up to 15 bytes more than its length, at
// most 258: 2+273 bytes from out.
const (
	inMargin  = 16
	outMargin = 288
)

// hasMargins reports whether both ends are far enough away for fast.
func (d *decoder) hasMargins() bool {
	return len(d.src)-d.in >= inMargin && len(d.dst)-d.out >= outMargin
}

// load8 reads 8 bytes, little-endian, at any alignment. The caller must know that they
// are inside the slice that starts at base.
func load8(base unsafe.Pointer, at int) uint64 {
	return binary.LittleEndian.Uint64((*[8]byte)(unsafe.Add(base, at))[:])
}

// store8 writes 8 bytes, little-endian, at any alignment. The caller must know that they
// are inside the slice that starts at base.
func store8(base unsafe.Pointer, at int, v uint64) {
	binary.LittleEndian.PutUint64((*[8]byte)(unsafe.Add(base, at))[:], v)
}

// fast decodes symbols up to the end of the block, of the chunk, or the margin at either
// end. fast rejects nothing: it stops before a symbol that is not a valid literal or match,
// and slow decodes or rejects that symbol.
func (d *decoder) fast() {
	if !d.hasMargins() {
		return
	}

	if undo := rounds(d, min(len(d.dst)-outMargin, d.final+chunk), len(d.src)-inMargin); undo != 0 {
		d.rewind(uint(undo))
	}
}

// rounds is roundsGo or, if the processor has the instructions, its equivalent in assembly.
// It decodes while out ≤ outEnd and in ≤ inEnd; the caller has checked that these are
// outMargin and inMargin before the ends. It returns the number of bits to go back: the
// consumed bits of a length whose distance is not valid, or 0.
var rounds = (*decoder).roundsGo

// roundsGo keeps the state in local variables, so that the state stays in registers. It
// calls no function, since a call would move the state to the stack and back. e is always
// the entry for the next bits, which are not consumed yet: e is looked up before the bits
// are refilled and before the preceding match is copied, so that the processor overlaps
// all three. Only the low 6 bits of count are exact, which are the bits that a shift uses;
// subtracting whole entries saves masking them. Bounds checks at a dozen places in each
// round would cost a quarter of the speed; hence unsafe:
//
//   - src is read by refills only: 8 bytes from in. in ≤ len(src) − inMargin
//     at the start of a round, and a round refills at most twice.
//   - dst is written at out and up to outMargin bytes after it, while
//     out ≤ len(dst) − outMargin at the start of a round.
//   - dst is read at out − distance, after distance was compared with out, and so
//     before the bytes that may be written, except for the second word of a match,
//     which reaches at most as far as the match is written.
func (d *decoder) roundsGo(outEnd, inEnd int) (undo uint64) {
	dst, src := unsafe.Pointer(unsafe.SliceData(d.dst)), unsafe.Pointer(unsafe.SliceData(d.src))
	out, in := d.out, d.in

	// The first refill, and the entry for the first bits.
	bits := d.bits | load8(src, in)<<(d.count&63)
	in += int(^d.count & 63 >> 3)
	count := d.count | 56
	e := d.lit[bits&(1<<litBits-1)]
	for in <= inEnd && out <= outEnd {
		// Up to two literals. bits has at least 56 bits: enough for a literal of maxCodeBits
		// and one of litBits, or a literal and a length with its 5 extra bits, and for the
		// lookup after either.
		if int64(e) < 0 {
			*(*byte)(unsafe.Add(dst, out)) = byte(e >> valueShift)
			out++
			bits >>= e & bitsMask
			count -= uint(e)
			e = d.lit[bits&(1<<litBits-1)]
			if int64(e) < 0 {
				*(*byte)(unsafe.Add(dst, out)) = byte(e >> valueShift)
				out++
				bits >>= e & bitsMask
				count -= uint(e)
				e = d.lit[bits&(1<<litBits-1)]
				bits |= load8(src, in) << (count & 63)
				in += int(^count & 63 >> 3)
				count |= 56
				continue
			}
		}

		// A code longer than litBits, the end of the block, or an error.
		if e&(entryStop|entrySub) != 0 {
			if e&entryStop != 0 {
				break
			}
			e = d.lit[(e>>valueShift+bits>>litBits&(1<<(e>>codeShift&codeMask)-1))&litMask]
			bits |= load8(src, in) << (count & 63)
			in += int(^count & 63 >> 3)
			count |= 56
			continue // with e an entry of any other kind
		}

		// A match: the length with its extra bits, and the entry of the distance.
		length := int(e>>valueShift) + int(bits&(1<<(e&bitsMask)-1)>>(e>>codeShift&bitsMask))
		bits >>= e & bitsMask
		count -= uint(e)
		f := d.dist[bits&(1<<distBits-1)]
		bits |= load8(src, in) << (count & 63)
		in += int(^count & 63 >> 3)
		count |= 56
		if f&(entryStop|entrySub) != 0 {
			if f&entrySub != 0 {
				f = d.dist[(f>>valueShift+bits>>distBits&(1<<(f>>codeShift&codeMask)-1))&distMask]
			}
			if f&entryStop != 0 {
				undo = e & bitsMask
				break
			}
		}

		// The distance with its extra bits.
		distance := int(f>>valueShift) + int(bits&(1<<(f&bitsMask)-1)>>(f>>codeShift&bitsMask))
		if distance > out {
			undo = e & bitsMask
			break
		}

		// The entry after the match is looked up before the match is copied.
		bits >>= f & bitsMask
		count -= uint(f)
		e = d.lit[bits&(1<<litBits-1)]
		bits |= load8(src, in) << (count & 63)
		in += int(^count & 63 >> 3)
		count |= 56

		// The match is copied in words, and may be written past its end.
		from := out - distance
		if distance >= 8 {
			store8(dst, out, load8(dst, from))
			store8(dst, out+8, load8(dst, from+8))
			for i := 16; i < length; i += 8 {
				store8(dst, out+i, load8(dst, from+i))
			}
		} else { // the bytes before out are repeated
			p := &patterns[distance&7]
			w := load8(dst, from) << (p.drop & 63) >> (p.drop & 63) * p.times
			for i := 0; i < length; i += int(p.step) {
				store8(dst, out+i, w)
			}
		}
		out += length
	}
	d.out, d.in = out, in
	d.bits, d.count = bits, count&63
	return undo
}

type pattern struct {
	times      uint64
	drop, step uint8
}

// patterns has the method of writing a match whose distance is less than a word, by
// distance: of the word before out, the bytes beyond the distance are dropped, and the
// rest is multiplied so that it repeats. step is the largest multiple of the distance up
// to 8, by which the repeated word can be shifted and still fit. No distance is 0, but
// step must not be 0 even then, so that the loop ends.
var patterns = [8]pattern{
	0: {1, 0, 8},
	1: {0x0101010101010101, 56, 8},
	2: {0x0001000100010001, 48, 8},
	3: {1 | 1<<24 | 1<<48, 40, 6},
	4: {1 | 1<<32, 32, 8},
	5: {1 | 1<<40, 24, 5},
	6: {1 | 1<<48, 16, 6},
	7: {1 | 1<<56, 8, 7},
}
