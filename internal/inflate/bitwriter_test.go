package inflate

import (
	"encoding/binary"
	"hash/adler32"
	"math/bits"
)

// bitWriter assembles deflate streams (RFC 1951 §3.1.1), good and bad ones.
type bitWriter struct {
	data []byte
	used uint // bits used of the last byte, 0: all
}

// bits appends the n low bits of v, lowest first: numbers.
func (w *bitWriter) bits(v, n uint) *bitWriter {
	for ; n > 0; n-- {
		if w.used == 0 {
			w.data = append(w.data, 0)
		}
		w.data[len(w.data)-1] |= byte(v&1) << w.used
		w.used = (w.used + 1) % 8
		v >>= 1
	}
	return w
}

// code appends the n low bits of v, highest first: Huffman codes.
func (w *bitWriter) code(v, n uint) *bitWriter {
	return w.bits(uint(bits.Reverse32(uint32(v))>>(32-n)), n)
}

// bytes appends whole bytes at the next byte boundary.
func (w *bitWriter) bytes(b ...byte) *bitWriter {
	w.data, w.used = append(w.data, b...), 0
	return w
}

// block begins a block: 0 stored, 1 fixed, 2 dynamic, 3 reserved.
func (w *bitWriter) block(last, kind uint) *bitWriter { return w.bits(last|kind<<1, 3) }

// fixed appends symbols in the fixed literal/length code (RFC 1951 §3.2.6).
func (w *bitWriter) fixed(symbols ...uint) *bitWriter {
	for _, s := range symbols {
		switch {
		case s < 144:
			w.code(0x30+s, 8)
		case s < 256:
			w.code(0x190+s-144, 9)
		case s < 280:
			w.code(s-256, 7)
		default:
			w.code(0xc0+s-280, 8)
		}
	}
	return w
}

// dynamic appends the head of a dynamic block (RFC 1951 §3.2.7). Its code
// length code has 4 bits for 0–12 and 5 for the other symbols.
func (w *bitWriter) dynamic(lits, dists uint) *bitWriter {
	w.block(1, 2).bits(lits-257, 5).bits(dists-1, 5).bits(15, 4)
	for _, sym := range preOrder {
		w.bits(preLength(uint(sym)), 3)
	}
	return w
}

func preLength(sym uint) uint {
	if sym <= 12 {
		return 4
	}
	return 5
}

// lengths appends code lengths in the code of dynamic.
func (w *bitWriter) lengths(symbols ...uint) *bitWriter {
	for _, s := range symbols {
		if s <= 12 {
			w.code(s, 4)
		} else {
			w.code(26+s-13, 5)
		}
	}
	return w
}

// zeros appends n code lengths 0, with symbol 18 where that is possible.
func (w *bitWriter) zeros(n uint) *bitWriter {
	for ; n >= 11; n -= min(n, 138) {
		w.lengths(18).bits(min(n, 138)-11, 7)
	}
	for range n {
		w.lengths(0)
	}
	return w
}

// zlib returns the stream with header and the checksum of plain
// (RFC 1950 §2.2).
func (w *bitWriter) zlib(plain []byte) []byte {
	z := append([]byte{0x78, 0x9c}, w.data...)
	return binary.BigEndian.AppendUint32(z, adler32.Checksum(plain))
}
