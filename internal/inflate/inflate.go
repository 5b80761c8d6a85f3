// Package inflate decompresses whole in-memory zlib streams (RFC 1950, 1951)
// whose inflated size is known: SHF_COMPRESSED sections.
//
// Input and output are byte slices. Matches are copied within the output, so there is
// no separate window, and no byte is copied twice.
//
// The fast path (fast.go) decodes without bounds checks as long as both ends are far
// away; the slow path (slow.go) checks every bound, decodes near the ends, and is the
// only one that rejects anything. The state that both share is in decoder.go; the
// tables are described in huffman.go; a second goroutine decodes parts of long streams
// (part.go).
package inflate

import (
	"encoding/binary"
	"errors"

	"symkit/located"
)

// The failures of a stream: a *located.Error carries one of these or
// located.ErrTruncated.
var (
	ErrHeader     = errors.New("not a zlib header")                                            // RFC 1950 §2.2
	ErrDictionary = errors.New("zlib stream needs a preset dictionary")                        // RFC 1950 §2.2, FDICT
	ErrChecksum   = errors.New("Adler-32 does not match the inflated data")                    // RFC 1950 §2.2, ADLER32
	ErrBlockType  = errors.New("reserved deflate block type")                                  // RFC 1951 §3.2.3
	ErrStored     = errors.New("stored block: NLEN is not the complement of LEN")              // RFC 1951 §3.2.4
	ErrCodeCount  = errors.New("more literal/length or distance codes than exist")             // RFC 1951 §3.2.7
	ErrCodeSet    = errors.New("over-subscribed or incomplete set of codes")                   // RFC 1951 §3.2.2
	ErrRepeat     = errors.New("code length repeat without a length, or beyond the last code") // RFC 1951 §3.2.7
	ErrCode       = errors.New("bits that are no code")                                        // RFC 1951 §3.2.2
	ErrSymbol     = errors.New("reserved length or distance symbol")                           // RFC 1951 §3.2.5, §3.2.6
	ErrDistance   = errors.New("distance reaches before the start of the output")              // RFC 1951 §3.2.5
	ErrTooLong    = errors.New("inflates to more than the stated size")
	ErrTooShort   = errors.New("inflates to less than the stated size")
)

// Zlib inflates the zlib stream at the start of src into dst, which the stream must
// fill exactly. The Adler-32 is verified. Bytes of src after the stream are ignored, as
// by debug/elf, zlib and elfutils: some writers pad the section.
//
// If progress is not nil, Zlib calls it, in the caller's goroutine, with the number of
// bytes of dst that are final: about every 256 KiB, in ascending order, and last with
// len(dst) if the stream inflates to that many bytes. The stream may still turn out to
// be damaged after that, since the checksum is at its end.
//
// Every error is a *located.Error for the section "zlib stream" whose Offset counts from
// the start of src: the byte in which the rejected item begins, or len(src) if src is
// truncated. dst is then partly written.
func Zlib(dst, src []byte, progress func(done int)) error {
	if progress == nil {
		return inflate(dst, len(dst), src, 1, nil)
	}
	return inflate(dst, len(dst), src, 1, func(buf []byte, done int) ([]byte, int) {
		progress(done)
		return buf, done
	})
}

// Slide is called by ZlibSliding, in its goroutine, when buf[:done] is final: these
// bytes are not written again, and other goroutines may read them once they know done
// through a channel or another synchronizing operation. Slide returns the buffer to
// continue in, either buf and done, or another buffer that begins with the last kept
// bytes of buf[:done]. It is called first with no buffer, then about every 256 KiB, and
// last when all of the output is final.
//
// Matches refer to the last Window bytes of the output, so at least that many bytes
// must be kept, or all if there are fewer. After these, the buffer must have space for
// Space bytes, or for the rest of the output if that is less.
type Slide func(buf []byte, done int) (next []byte, kept int)

// Sizes of the buffers of a Slide, in bytes.
const (
	Window = 32 << 10                      // to keep at least
	Space  = chunk + maxStored + outMargin // to have free at least
)

// maxStored bounds a stored block, which is copied as a whole.
const maxStored = 1<<16 - 1

// ZlibSliding is Zlib for a consumer that does not need all of the output at the same
// time. The output, of size bytes, is written into the buffers that slide returns. The
// stream may still turn out to be damaged after the last call of slide.
//
// With more than one job, a second goroutine decodes parts of a long stream (part.go). That
// changes neither output nor errors.
func ZlibSliding(size int, src []byte, jobs int, slide Slide) error {
	dst, _ := slide(nil, 0)
	return inflate(dst, size, src, jobs, slide)
}

// inflate inflates a stream of size bytes into dst, and then into the buffers that slide
// returns.
func inflate(dst []byte, size int, src []byte, jobs int, slide Slide) error {
	if err := checkHeader(src); err != nil {
		return err
	}

	chooseLoops()
	d := decoders.Get().(*decoder)
	defer d.free()
	d.reset(dst, size, src, slide)

	before := func() {}
	if jobs > 1 {
		p := newPart(d)
		defer p.free()
		before = func() { p.take(d) }
	}

	if err := d.blocks(before); err != nil {
		return err
	}

	// All blocks are decoded.
	return d.trailer()
}

// headerSize is CMF and FLG (RFC 1950 §2.2).
const headerSize = 2

// checkHeader checks CMF and FLG (RFC 1950 §2.2).
func checkHeader(src []byte) error {
	const (
		methodDeflate = 8
		maxWindow     = 7 // CINFO: 32 KiB
		flagDict      = 0x20
	)
	switch {
	case len(src) < headerSize:
		return &located.Error{Section: section, Offset: len(src), Err: located.ErrTruncated}
	case src[0]&0xf != methodDeflate, src[0]>>4 > maxWindow, binary.BigEndian.Uint16(src)%31 != 0:
		return &located.Error{Section: section, Offset: 0, Err: ErrHeader}
	case src[1]&flagDict != 0:
		return &located.Error{Section: section, Offset: 1, Err: ErrDictionary}
	}
	return nil
}

// trailer verifies the size of the output and its checksum (RFC 1950 §2.2).
func (d *decoder) trailer() error {
	d.align()
	if d.before+d.out < d.size {
		return d.fail(d.in, ErrTooShort)
	}

	// The Adler-32 follows the last block, at the next byte.
	if len(d.src)-d.in < 4 {
		return d.fail(len(d.src), located.ErrTruncated)
	}
	if binary.BigEndian.Uint32(d.src[d.in:]) != d.sum {
		return d.fail(d.in, ErrChecksum)
	}
	return nil
}
