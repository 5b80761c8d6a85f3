// Package inflate decompresses whole in-memory zlib streams (RFC 1950, 1951)
// whose inflated size is known: SHF_COMPRESSED sections.
//
// Input and output are byte slices, so there is no window besides and nothing
// to copy twice: matches are copied within the output.
package inflate

import (
	"encoding/binary"
	"errors"
	"sync"

	"symkit/internal/wire"
)

// What is wrong with a stream; a *wire.Error carries one of these or
// wire.ErrTruncated.
var (
	ErrHeader     = errors.New("not a zlib header")                                // RFC 1950 §2.2
	ErrDictionary = errors.New("zlib stream needs a preset dictionary")            // RFC 1950 §2.2, FDICT
	ErrChecksum   = errors.New("Adler-32 does not match the inflated data")        // RFC 1950 §2.2, ADLER32
	ErrBlockType  = errors.New("reserved deflate block type")                      // RFC 1951 §3.2.3
	ErrStored     = errors.New("stored block: NLEN is not the complement of LEN")  // RFC 1951 §3.2.4
	ErrCodeCount  = errors.New("more literal/length or distance codes than exist") // RFC 1951 §3.2.7
	ErrCodeSet    = errors.New("over-subscribed or incomplete set of codes")       // RFC 1951 §3.2.2
	ErrRepeat     = errors.New("code length repeat without a length or room")      // RFC 1951 §3.2.7
	ErrCode       = errors.New("bits that are no code")                            // RFC 1951 §3.2.2
	ErrSymbol     = errors.New("reserved length or distance symbol")               // RFC 1951 §3.2.5, §3.2.6
	ErrDistance   = errors.New("distance reaches before the start of the output")  // RFC 1951 §3.2.5
	ErrTooLong    = errors.New("inflates to more than the stated size")
	ErrTooShort   = errors.New("inflates to less than the stated size")
)

// section is what errors call the compressed bytes.
const section = "zlib stream"

// chunk is how many bytes are inflated between two reports of progress: large
// enough to make them cheap, small enough that the bytes are still in the
// second-level cache when their checksum is computed.
const chunk = 256 << 10

// Zlib inflates the zlib stream at the start of src into dst, which it must
// fill exactly. The Adler-32 is verified. Bytes of src after it are ignored, as
// debug/elf, zlib and elfutils do: some writers pad the section.
//
// Every error is a *wire.Error for the section "zlib stream" whose Offset
// counts from the start of src: the byte in which the rejected item begins,
// len(src) if src ends too early. dst is then partly written.
func Zlib(dst, src []byte) error {
	return inflate(dst, len(dst), src, nil)
}

// ZlibProgress is Zlib for a consumer that wants to know how far it is. It calls
// progress, in the caller's goroutine, with the number of bytes of dst that are
// final, about every 256 KiB with done rising; the last call has len(dst), when
// that many bytes were inflated. Bytes reported may still belong to a stream that
// turns out to be damaged: the checksum is at its end.
func ZlibProgress(dst, src []byte, progress func(done int)) error {
	return inflate(dst, len(dst), src, func(buf []byte, done int) ([]byte, int) {
		progress(done)
		return buf, done
	})
}

// Slide is told, in the goroutine of ZlibSliding, that buf[:done] is final: it will
// not be written again, and other goroutines may read it once they have learned of
// done through a channel or another synchronizing operation. It returns the buffer
// to go on in, which begins with the last kept bytes of buf[:done]: buf and done, or
// another one. It is called first with no buffer, then about every 256 KiB, and last
// when size bytes are there.
//
// The stream goes on to refer to the last Window bytes of its output; so many
// must be kept, or all that there are. Behind them the buffer must have Room bytes,
// or all that are left.
type Slide func(buf []byte, done int) (next []byte, kept int)

// What a Slide has to keep and to have room for.
const (
	Window = 32 << 10
	Room   = chunk + maxStored + outMargin
)

// maxStored bounds a stored block, which is copied as a whole.
const maxStored = 1<<16 - 1

// ZlibSliding is Zlib for a consumer that does not need all of the output, of size
// bytes, at the same time. It is inflated into the buffers that slide returns.
// Bytes reported may still belong to a stream that turns out to be damaged.
func ZlibSliding(size int, src []byte, slide Slide) error {
	dst, _ := slide(nil, 0)
	return inflate(dst, size, src, slide)
}

// inflate inflates a stream of size bytes into dst and, if that is not all, what slide
// returns.
func inflate(dst []byte, size int, src []byte, slide Slide) error {
	if err := checkHeader(src); err != nil {
		return err
	}
	d := decoders.Get().(*decoder)
	defer decoders.Put(d)
	d.reset(dst, size, src, slide)
	defer d.reset(nil, 0, nil, nil) // the pool must not keep the caller's memory
	if err := d.blocks(); err != nil {
		return err
	}
	return d.trailer()
}

// decoders holds decoders for their tables, which are about 42 KiB.
var decoders = sync.Pool{New: func() any { return new(decoder) }}

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
		return &wire.Error{Section: section, Offset: len(src), Err: wire.ErrTruncated}
	case src[0]&0xf != methodDeflate, src[0]>>4 > maxWindow, binary.BigEndian.Uint16(src)%31 != 0:
		return &wire.Error{Section: section, Offset: 0, Err: ErrHeader}
	case src[1]&flagDict != 0:
		return &wire.Error{Section: section, Offset: 1, Err: ErrDictionary}
	}
	return nil
}

// trailer compares the output's size and checksum.
func (d *decoder) trailer() error {
	d.align()
	if d.before+d.out < d.size {
		return d.fail(d.in, ErrTooShort)
	}
	if len(d.src)-d.in < 4 {
		return d.fail(len(d.src), wire.ErrTruncated)
	}
	if binary.BigEndian.Uint32(d.src[d.in:]) != d.sum {
		return d.fail(d.in, ErrChecksum)
	}
	return nil
}
