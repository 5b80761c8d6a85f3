package elfx

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/klauspost/compress/zstd"

	"symkit/internal/bounds"
	"symkit/internal/inflate"
	"symkit/internal/limitof"
	"symkit/internal/mem"
	"symkit/internal/wire"
	"symkit/limits"
	"symkit/located"
)

// ErrCompression: a compressed section has an unknown kind of compression or a size
// that no compressor reaches, or its stream is damaged or of another size.
var ErrCompression = errors.New("compressed section")

// packing is a compressed section: the fields of its header, and the stream.
type packing struct {
	kind elf.CompressionType
	size uint64 // uncompressed
	at   int    // section offset of the stream
	body []byte // the stream

	limits limits.Limits
}

// UncompressedSize returns the length that Data will have, without that of other
// sections of the same name, from the section's header: nothing is inflated. The
// errors are those of Data that do not depend on the stream.
func (s *Section) UncompressedSize() (uint64, error) {
	return guarded(s.file, func() (uint64, error) {
		if !s.compressed() {
			data, err := s.raw()
			return uint64(len(data)), err
		}
		p, err := s.packing()
		return p.size, err
	})
}

// unpacked returns the section's bytes without relocation: those in the file, or inflated.
func (s *Section) unpacked() ([]byte, error) {
	if !s.compressed() {
		return s.raw()
	}
	return s.cached(s.decompress)
}

// cursor returns a cursor over unpacked in the file's byte order.
func (s *Section) cursor() (wire.Cursor, error) {
	data, err := s.unpacked()
	return s.file.cursor(s.label(), data), err
}

// decompress inflates the section.
func (s *Section) decompress() (*mem.Buffer, error) {
	p, err := s.packing()
	if err != nil {
		return nil, err
	}

	// The buffer has the size of the header; a stream of another size is an error.
	buffer := s.file.memory.get(p.size)
	data := buffer.Bytes()
	d := newDropper(s)
	if p.kind == elf.COMPRESS_ZSTD {
		err = inflateZstd(data, p.body)
	} else {
		var a ahead
		a.wrote(data, 0)
		err = inflate.Zlib(data, p.body, func(done int) {
			a.wrote(data, done)
			d.consumed(done, len(data))
		})
	}
	d.consumed(len(data), len(data))

	if err != nil {
		s.file.memory.put(buffer)
		return nil, s.unpackError(p, err)
	}
	return buffer, nil
}

// unpackError returns the error of inflating p, or nil, with its section offset.
func (s *Section) unpackError(p packing, err error) error {
	if err == nil {
		return nil
	}

	// An error of the decoder has an offset in the stream.
	at := p.at
	if e, ok := errors.AsType[*located.Error](err); ok {
		at, err = at+e.Offset, e.Err
	}
	return &located.Error{Section: s.label(), Offset: at, Err: fmt.Errorf("%w: %w", ErrCompression, err)}
}

// packing reads the section's compression header and checks the uncompressed size,
// also against the allowance of the file.
func (s *Section) packing() (packing, error) {
	p, err := s.claim()
	if err == nil {
		err = s.file.over()[s.Index]
	}
	return p, err
}

// claim is packing without the check against the allowance of the file.
func (s *Section) claim() (p packing, err error) {
	data, err := s.raw()
	if err != nil {
		return p, err
	}

	// The header of gABI compression, or the older "ZLIB" header.
	c := s.file.cursor(s.label(), data)
	if s.Flags&elf.SHF_COMPRESSED != 0 {
		readChdr(s.file, &c, &p)
	} else {
		readZdebug(&c, &p)
	}

	// The stream is the rest of the section.
	p.limits = s.file.opt.Limits
	p.at = c.Pos()
	p.body = c.Bytes(uint64(c.Len()))
	if c.Err() == nil && p.size > p.limit() {
		c.Fail(0, fmt.Errorf("%w: %d bytes cannot inflate to %d", ErrCompression, len(p.body), p.size))
	}
	return p, c.Err()
}

// readChdr reads a compression header (gABI, "Section Compression").
func readChdr(f *File, c *wire.Cursor, p *packing) {
	p.kind = elf.CompressionType(c.U32())
	word := f.AddrSize()
	if word == 8 {
		c.Skip(4) // ch_reserved
	}
	p.size = c.Uint(word)
	c.Skip(uint64(word)) // ch_addralign

	if c.Err() == nil && p.kind != elf.COMPRESS_ZLIB && p.kind != elf.COMPRESS_ZSTD {
		c.Fail(0, fmt.Errorf("%w: unknown kind %d", ErrCompression, uint32(p.kind)))
	}
}

// readZdebug reads the header of a .zdebug_ section: "ZLIB" and the size, which is
// big-endian in every file (GNU binutils, --compress-debug-sections=zlib-gnu).
func readZdebug(c *wire.Cursor, p *packing) {
	p.kind = elf.COMPRESS_ZLIB
	magic := c.Bytes(4)
	size := c.Bytes(8)
	if c.Err() != nil {
		return
	}
	if !bytes.Equal(magic, []byte("ZLIB")) {
		c.Fail(0, fmt.Errorf("%w: no ZLIB header", ErrCompression))
		return
	}
	p.size = binary.BigEndian.Uint64(size)
}

// limit returns the largest credible uncompressed size.
func (p *packing) limit() uint64 {
	n := uint64(len(p.body))
	most := bounds.Inflated(p.limits, n)
	if p.kind == elf.COMPRESS_ZLIB {
		most = min(most, n*bounds.MaxDeflate)
	}
	return min(most, math.MaxInt)
}

// excess returns the part of the size that exceeds the size to which streams of this
// length inflate in real files.
func (p *packing) excess() uint64 {
	usual := bounds.InflatedUsually(p.limits, uint64(len(p.body)))
	return p.size - min(p.size, usual)
}

// allOverAllowance returns the errors of the compressed sections that are refused. A small
// section may inflate to bounds.FreeSize at any ratio, and a file can have thousands of such
// sections, even of the same bytes. Therefore the excess of all sections together is at
// most bounds.FreeSize, and their total size is at most the limit inflated. Sections are
// counted in the order of the section header table, so that the order of reading does not
// decide which ones are refused.
func allOverAllowance(f *File) map[int]error {
	over := map[int]error{}

	// Grant sections in header order, as long as both budgets last.
	excess, total := uint64(bounds.FreeSize), f.opt.Limits.Max(limitof.Inflated, f.paid)
	for i := range f.Sections {
		s := &f.Sections[i]
		if !s.compressed() {
			continue
		}
		p, err := s.claim()
		if err != nil {
			continue // claim refuses the section anyway
		}

		switch {
		case p.excess() > excess:
			err = fmt.Errorf("%d bytes cannot inflate to %d besides what other sections inflate to", len(p.body), p.size)
		case p.size > total:
			err = fmt.Errorf("%d bytes besides those of other sections: %w", p.size, f.opt.Limits.Exceeded(limitof.Inflated, f.paid))
		default:
			excess -= p.excess()
			total -= p.size
			continue
		}
		over[i] = &located.Error{Section: s.label(), Err: fmt.Errorf("%w: %w", ErrCompression, err)}
	}
	return over
}

// inflateZstd decodes one or more frames (lld writes several) into exactly dst.
func inflateZstd(dst, src []byte) error {
	if len(dst) == 0 {
		return nil
	}

	// The capacity of dst limits the memory. WithDecoderMaxMemory would refuse a
	// small section in a frame that has the usual large window.
	d, err := zstd.NewReader(nil,
		zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderLowmem(true),
		zstd.WithDecodeAllCapLimit(true))
	if err != nil {
		return err
	}
	defer d.Close()

	// The frames must fill dst exactly.
	data, err := d.DecodeAll(src, dst[:0:len(dst)])
	if err == nil && len(data) != len(dst) {
		err = fmt.Errorf("%d bytes, not the %d of the header", len(data), len(dst))
	}
	return err
}
