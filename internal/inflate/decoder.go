package inflate

import (
	"encoding/binary"
	"sync"

	"symkit/located"
)

// section is the name of the compressed bytes in errors.
const section = "zlib stream"

// chunk is how many bytes are inflated between two reports of progress: enough to make
// reports cheap, and so few that the bytes are still in the second-level cache when
// their checksum is computed.
const chunk = 256 << 10

// decoder is the state of one stream.
//
// bits holds the next count bits of the stream, the next one lowest; they end before
// byte in of src. The bits above them are zero or those that follow in src, so that
// or-ing the following bytes in again changes nothing.
//
// src may be a mapped file that another process changes meanwhile. That can spoil the
// output, but violates no bound: bounds are checked on copies of the bytes read.
type decoder struct {
	dst, src []byte
	out, in  int
	bits     uint64
	count    uint
	slide    Slide  // nil if dst is the whole output
	size     int    // of the whole output
	before   int    // bytes of the output before dst
	final    int    // bytes of dst that are in sum and were reported
	sum      uint32 // Adler-32 of the output up to dst[:final]
	fixed    bool   // the tables are those of the fixed code

	lit     [litSize]uint64
	dist    [distSize]uint64
	pre     [1 << preBits]uint64
	lengths [fixedLitSyms + fixedDists]uint8
}

func (d *decoder) reset(dst []byte, size int, src []byte, slide Slide) {
	d.dst, d.src, d.slide = dst[:min(len(dst), size)], src, slide
	d.out, d.in = 0, min(headerSize, len(src))
	d.bits, d.count = 0, 0
	d.size, d.before = size, 0
	d.final, d.sum = 0, 1
}

// decoders holds decoders for their tables, which are about 42 KiB.
var decoders = sync.Pool{New: func() any { return new(decoder) }}

// free returns the decoder to the pool, which must not keep the caller's memory alive.
func (d *decoder) free() {
	d.reset(nil, 0, nil, nil)
	decoders.Put(d)
}

// slideOn reports dst[:out] as final and continues in the buffer that slide returns.
func (d *decoder) slideOn() {
	if d.slide == nil {
		d.final = d.out
		return
	}

	next, kept := d.slide(d.dst, d.out)
	d.before += d.out - kept
	d.dst = next[:min(len(next), d.size-d.before)]
	d.out, d.final = kept, kept
}

func (d *decoder) fail(at int, err error) error {
	return &located.Error{Section: section, Offset: at, Err: err}
}

// pos returns the offset in src of the byte that has the next bit.
func (d *decoder) pos() int { return d.in - int(d.count+7)/8 }

// bit returns the offset in src of the next bit, in bits.
func (d *decoder) bit() int { return 8*d.in - int(d.count) }

// seek continues at a bit of src.
func (d *decoder) seek(bit int) {
	d.in, d.bits, d.count = bit/8, 0, 0
	d.refill()
	d.drop(uint(bit % 8))
}

// refill puts whole bytes of src into bits until there are at least 56 bits, or all
// that are left.
func (d *decoder) refill() {
	if d.count <= 56 && len(d.src)-d.in >= 8 {
		d.bits |= binary.LittleEndian.Uint64(d.src[d.in:]) << d.count
		n := (63 - d.count) / 8
		d.in += int(n)
		d.count += 8 * n
		return
	}

	// Near the end of src: byte by byte.
	for d.count <= 56 && d.in < len(d.src) {
		d.bits |= uint64(d.src[d.in]) << d.count
		d.in++
		d.count += 8
	}
}

// drop consumes n bits; count must be at least n.
func (d *decoder) drop(n uint) {
	d.bits >>= n
	d.count -= n
}

// take consumes n bits, at most 16, and returns them.
func (d *decoder) take(n uint) (uint, error) {
	if d.count < n {
		d.refill()
		if d.count < n {
			return 0, d.fail(len(d.src), located.ErrTruncated)
		}
	}

	v := uint(d.bits & (1<<n - 1))
	d.drop(n)
	return v, nil
}

// align drops the bits up to the next byte of src, and returns whole bytes in bits to src.
func (d *decoder) align() {
	d.in -= int(d.count / 8)
	d.bits, d.count = 0, 0
}

// rewind goes back by n bits in src.
func (d *decoder) rewind(n uint) {
	back := d.count + n
	d.in -= int(back+7) / 8
	d.bits, d.count = 0, 0
	d.refill()
	d.drop(-back & 7)
}

// blocks decodes all blocks (RFC 1951 §3.2.3) and reports the rest of the output. It calls
// before in front of each block.
func (d *decoder) blocks(before func()) error {
	for last := false; !last; {
		before()
		var err error
		last, err = d.block()
		if err != nil {
			return err
		}
	}

	d.report()
	return nil
}

// block decodes a block, and reports whether the block is the last one.
func (d *decoder) block() (last bool, err error) {
	d.refill()
	at := d.pos()
	header, err := d.take(3)
	if err != nil {
		return false, err
	}

	switch header >> 1 {
	case 0:
		err = d.stored()
	case 1:
		err = d.fixedBlock()
	case 2:
		err = d.dynamicBlock()
	default:
		err = d.fail(at, ErrBlockType)
	}
	return header&1 != 0, err
}

// stored copies a block that is not compressed (RFC 1951 §3.2.4).
func (d *decoder) stored() error {
	d.align()
	if len(d.src)-d.in < 4 {
		return d.fail(len(d.src), located.ErrTruncated)
	}

	// LEN and its complement NLEN.
	n := binary.LittleEndian.Uint16(d.src[d.in:])
	if n != ^binary.LittleEndian.Uint16(d.src[d.in+2:]) {
		return d.fail(d.in, ErrStored)
	}
	if int(n) > len(d.dst)-d.out {
		return d.fail(d.in, ErrTooLong)
	}

	d.in += 4
	if int(n) > len(d.src)-d.in {
		return d.fail(len(d.src), located.ErrTruncated)
	}

	d.out += copy(d.dst[d.out:], d.src[d.in:][:n])
	d.in += int(n)
	d.reportChunk()
	return nil
}

// fixedBlock decodes a block with the fixed code (RFC 1951 §3.2.6).
func (d *decoder) fixedBlock() error {
	// The tables stay valid until a dynamic block overwrites them.
	if !d.fixed {
		l := &d.lengths
		for i := range l {
			switch {
			case i < 144, i >= 280 && i < fixedLitSyms:
				l[i] = 8
			case i < 256:
				l[i] = 9
			case i < 280:
				l[i] = 7
			default:
				l[i] = 5
			}
		}
		build(d.lit[:], litBits, l[:fixedLitSyms], litSymbols[:])
		build(d.dist[:], distBits, l[fixedLitSyms:], distSymbols[:])
		d.fixed = true
	}
	return d.compressed()
}

// compressed decodes the symbols of a block (RFC 1951 §3.2.3) with the tables
// as they are.
func (d *decoder) compressed() error {
	for {
		d.fast()
		done, err := d.slow()
		if done || err != nil {
			return err
		}
		d.reportChunk()
	}
}

// reportChunk calls report if a chunk is full.
func (d *decoder) reportChunk() {
	if d.out-d.final >= chunk {
		d.report()
	}
}

// report adds the bytes inflated since the last report to the checksum, and reports
// them. No byte before out is ever written again.
func (d *decoder) report() {
	if d.out == d.final && d.before+d.out > 0 {
		return
	}
	d.sum = adler32sum(d.sum, d.dst[d.final:d.out])
	d.slideOn()
}
