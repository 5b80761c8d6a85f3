package elfx

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/klauspost/compress/zstd"

	"symkit/internal/inflate"
	"symkit/internal/limits"
	"symkit/internal/mem"
	"symkit/internal/wire"
)

// ErrCompression: a compressed section of an unknown kind, with a size no
// compressor reaches, or whose stream is damaged or of another size.
var ErrCompression = errors.New("compressed section")

// packing is what the header of a compressed section says.
type packing struct {
	kind elf.CompressionType
	size uint64 // uncompressed
	at   int    // offset of the stream
	body []byte // the stream
}

// UncompressedSize is the length that Data will have (but for other sections of
// the same name), read from the section's
// header without inflating anything. It fails as Data does, except for what
// only the stream shows.
func (s *Section) UncompressedSize() (uint64, error) {
	var size uint64
	err := s.file.do(func() error {
		if !s.compressed() {
			data, err := s.raw()
			size = uint64(len(data))
			return err
		}
		p, err := s.packing()
		size = p.size
		return err
	})
	return size, err
}

// decompress inflates the section.
func (s *Section) decompress() (*mem.Buffer, error) {
	p, err := s.packing()
	if err != nil {
		return nil, err
	}
	buffer := s.file.memory.get(p.size)
	data := buffer.Bytes()
	d := s.dropper()
	if p.kind == elf.COMPRESS_ZSTD {
		err = inflateZstd(data, p.body)
	} else {
		var a ahead
		a.wrote(data, 0)
		err = inflate.ZlibProgress(data, p.body, func(done int) {
			a.wrote(data, done)
			d.consumed(done, len(data))
		})
	}
	d.consumed(len(data), len(data))
	if err != nil {
		s.file.memory.put(buffer)
		return nil, s.unpacked(p, err)
	}
	return buffer, nil
}

// dropper gives the section's pages back as it is inflated.
func (s *Section) dropper() dropper {
	return dropper{s.file, s.Offset, s.Offset + s.Size, s.Size}
}

// unpacked says of an error, if it is one, where it is in the section that p is of.
func (s *Section) unpacked(p packing, err error) error {
	if err == nil {
		return nil
	}
	at := p.at
	if e, ok := errors.AsType[*wire.Error](err); ok {
		at, err = at+e.Offset, e.Err
	}
	return &wire.Error{Section: s.label(), Offset: at, Err: fmt.Errorf("%w: %w", ErrCompression, err)}
}

// packing reads the section's compression header and checks the size it claims.
func (s *Section) packing() (packing, error) {
	p, err := s.claim()
	if err == nil && s.file.isOverAllowance(s.Index) {
		err = &wire.Error{Section: s.label(), Err: fmt.Errorf("%w: %d bytes cannot inflate to %d besides what other sections inflate to", ErrCompression, len(p.body), p.size)}
	}
	return p, err
}

// claim is packing for the section alone, whatever other sections inflate to.
func (s *Section) claim() (p packing, err error) {
	data, err := s.raw()
	if err != nil {
		return p, err
	}
	c := s.file.cursor(s.label(), data)
	if s.Flags&elf.SHF_COMPRESSED != 0 {
		s.readChdr(&c, &p)
	} else {
		readZdebug(&c, &p)
	}
	p.at = c.Pos()
	p.body = c.Bytes(uint64(c.Len()))
	if c.Err() == nil && p.size > p.limit() {
		c.Fail(0, fmt.Errorf("%w: %d bytes cannot inflate to %d", ErrCompression, len(p.body), p.size))
	}
	return p, c.Err()
}

// readChdr reads a compression header (gABI, "Section Compression").
func (s *Section) readChdr(c *wire.Cursor, p *packing) {
	p.kind = elf.CompressionType(c.U32())
	word := s.file.AddrSize()
	if word == 8 {
		c.Skip(4) // ch_reserved
	}
	p.size = c.Uint(word)
	c.Skip(uint64(word)) // ch_addralign
	if c.Err() == nil && p.kind != elf.COMPRESS_ZLIB && p.kind != elf.COMPRESS_ZSTD {
		c.Fail(0, fmt.Errorf("%w: unknown kind %d", ErrCompression, uint32(p.kind)))
	}
}

// readZdebug reads the header of a .zdebug_ section: "ZLIB" and the size, in
// big-endian order in every file (GNU binutils, --compress-debug-sections=zlib-gnu).
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

// limit is the largest size that is believed.
func (p *packing) limit() uint64 {
	n := uint64(len(p.body))
	most := limits.Inflated(n)
	if p.kind == elf.COMPRESS_ZLIB {
		most = min(most, n*limits.MaxDeflate)
	}
	return min(most, math.MaxInt)
}

// excess is the part of the size above what the stream's bytes can stand for in real files.
func (p *packing) excess() uint64 {
	usual := limits.InflatedUsually(uint64(len(p.body)))
	return p.size - min(p.size, usual)
}

// allowance is the sections of a file that inflate to too much together. A small section may
// inflate to limits.FreeSize whatever its ratio, and a file can have thousands of such sections,
// of the same bytes, too. So the excess of all sections together may be limits.FreeSize, and the
// sizes of all together what the whole file may inflate to and limits.FreeSize. Sections are
// counted in the order of the section header table, so that the same ones are refused whichever
// is read first.
type allowance struct {
	mu   sync.Mutex
	made bool
	over map[int]bool // by index of the section
}

// isOverAllowance reports whether a section does not fit into the allowance of the file.
func (f *File) isOverAllowance(index int) bool {
	a := &f.allowance
	a.mu.Lock()
	defer a.mu.Unlock()

	if !a.made {
		a.over = map[int]bool{}
		excess := uint64(limits.FreeSize)
		total := limits.FreeSize + limits.InflatedUsually(uint64(len(f.data)))
		for i := range f.Sections {
			s := &f.Sections[i]
			if !s.compressed() {
				continue
			}
			p, err := s.claim()
			if err != nil {
				continue // the section is refused without this
			}
			if p.excess() > excess || p.size > total {
				a.over[i] = true
				continue
			}
			excess -= p.excess()
			total -= p.size
		}
		a.made = true
	}
	return a.over[index]
}

// namesFound has the sections counted anew, since the names tell which are compressed.
func (a *allowance) namesFound() { a.made = false }

// inflateZstd decodes one or more frames (lld writes several) into exactly dst.
func inflateZstd(dst, src []byte) error {
	if len(dst) == 0 {
		return nil
	}
	// WithDecoderMaxMemory would refuse a small section in a frame with the
	// usual large window; the buffer's capacity is the limit instead.
	d, err := zstd.NewReader(nil,
		zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderLowmem(true),
		zstd.WithDecodeAllCapLimit(true))
	if err != nil {
		return err
	}
	defer d.Close()
	data, err := d.DecodeAll(src, dst[:0:len(dst)])
	if err == nil && len(data) != len(dst) {
		err = fmt.Errorf("%d bytes, not the %d of the header", len(data), len(dst))
	}
	return err
}
