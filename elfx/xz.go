package elfx

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"hash/crc64"
	"io"

	"github.com/ulikunitz/xz/lzma"

	"symkit/internal/wire"
)

// ErrXZ: the data is damaged, or is no .xz file of one stream with the LZMA2 filter
// alone.
var ErrXZ = errors.New("unusable xz data")

const (
	xzMagic       = "\xfd7zXZ\x00"
	xzEndMagic    = "YZ"
	xzEnds        = 12 // the size of a stream header, and of a footer
	xzLZMA2       = 0x21
	xzMinDict     = 4096
	xzMaxCheck    = 15 // check types are 0 to 15
	xzCRC32       = 1
	xzCRC64       = 4
	xzSHA256      = 10
	xzSizes       = 0xc0 // block flags: compressed and uncompressed size are there
	xzPackedSize  = 0x40
	xzFilterCount = 0x03
)

// xzBlock is one record of the index.
type xzBlock struct {
	at     int    // section offset of the block's header
	packed uint64 // header, data and check, without the padding before the check
	size   uint64 // uncompressed
}

// xzStream is a .xz file (.xz file format 1.1.0, §2) whose index was read. The index
// gives the sizes of all blocks before the decoding.
type xzStream struct {
	c      wire.Cursor // over the whole file
	check  uint8       // the check type
	blocks []xzBlock
	size   uint64
}

// openXZ reads the index of the .xz file in data. It refuses several streams in a
// row, which no tool writes into a section.
func openXZ(section string, data []byte) (*xzStream, error) {
	s := &xzStream{c: wire.New(section, data, false)}
	if len(data) < 2*xzEnds || !bytes.HasPrefix(data, []byte(xzMagic)) {
		s.fail(0, "no stream header")
		return nil, s.c.Err()
	}
	s.check = data[7] & xzMaxCheck

	// The footer has the size of the index, which is before the footer, and repeats the
	// stream flags.
	footer := s.c
	footer.Seek(uint64(len(data) - xzEnds + 4))
	backward := (uint64(footer.U32()) + 1) * 4
	flags, magic := footer.U16(), footer.Bytes(2)
	before := uint64(len(data) - 2*xzEnds)
	if string(magic) != xzEndMagic || flags != binary.LittleEndian.Uint16(data[6:]) || backward > before {
		s.fail(len(data)-xzEnds, "no stream footer")
		return nil, s.c.Err()
	}
	s.readIndex(xzEnds+before-backward, backward)
	return s, s.c.Err()
}

// fail records an error at a section offset.
func (s *xzStream) fail(at int, what string) {
	s.c.Fail(at, fmt.Errorf("%w: %s", ErrXZ, what))
}

// readIndex reads the index (§4), which comes after the blocks.
func (s *xzStream) readIndex(from, size uint64) {
	c := s.c
	c.Seek(from)
	c = c.Sub(size)
	if c.U8() != 0 {
		s.fail(int(from), "no index")
		return
	}

	// Blocks lie between the stream header and the index, without gaps.
	count := c.ULEB()
	next := uint64(xzEnds)
	for range count {
		at := c.Pos()
		b := xzBlock{int(next), c.ULEB(), c.ULEB()}
		if c.Err() != nil {
			s.c = c
			return
		}

		// A forged index must neither exceed the file nor overflow the sum.
		if b.packed == 0 || b.packed > from-next || b.onDisk() > from-next || s.size+b.size < b.size {
			s.fail(at, "blocks that are larger than the file")
			return
		}
		next += b.onDisk()
		s.size += b.size
		s.blocks = append(s.blocks, b)
	}
	if next != from {
		s.fail(int(from), "bytes that belong to no block")
	}
}

// decode decodes all blocks into dst, which has the stream's size.
func (s *xzStream) decode(dst []byte) error {
	for _, b := range s.blocks {
		c := s.c
		c.Seek(uint64(b.at))
		c = c.Sub(b.onDisk())
		if err := s.block(&c, &b, dst[:b.size]); err != nil {
			return &wire.Error{Section: c.Section(), Offset: b.at, Err: err}
		}
		dst = dst[b.size:]
	}
	return nil
}

// onDisk returns the block's size in the file, padded to a multiple of 4.
func (b *xzBlock) onDisk() uint64 { return (b.packed + 3) &^ 3 }

// block decodes one block (§3) into dst. The data of c is the block.
func (s *xzStream) block(c *wire.Cursor, b *xzBlock, dst []byte) error {
	dict, err := blockHeader(c)
	if err != nil {
		return err
	}

	// After the data come padding to 4 bytes and the checksum.
	check := s.checkSize()
	padding := int(b.onDisk() - b.packed)
	if c.Len() < check+padding {
		return wire.ErrTruncated
	}
	packed := c.Bytes(uint64(c.Len() - check - padding))
	c.Skip(uint64(padding))

	// No match can refer to bytes before the block, so the dictionary need not be
	// larger than the block.
	dict = max(min(dict, uint64(len(dst))), xzMinDict)
	r, err := lzma.Reader2Config{DictCap: int(dict)}.NewReader2(bytes.NewReader(packed))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrXZ, err)
	}
	if _, err := io.ReadFull(r, dst); err != nil {
		return fmt.Errorf("%w: %w", ErrXZ, err)
	}

	// The stream must end exactly with the block.
	if n, err := r.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		return fmt.Errorf("%w: a block larger than the index says", ErrXZ)
	}
	if !s.verify(dst, c.Bytes(uint64(check))) {
		return fmt.Errorf("%w: wrong checksum", ErrXZ)
	}
	return nil
}

// blockHeader reads a block header (§3.1) and returns the dictionary size of its one
// filter.
func blockHeader(c *wire.Cursor) (dict uint64, err error) {
	header := *c
	size := (uint64(header.U8()) + 1) * 4
	header = c.Sub(size)

	// The two sizes are optional, and known from the index.
	header.Skip(1)
	flags := header.U8()
	if flags&xzPackedSize != 0 {
		header.ULEB()
	}
	if flags&(xzSizes&^xzPackedSize) != 0 {
		header.ULEB()
	}

	// LZMA2 has one byte of properties: the dictionary size.
	id, properties := header.ULEB(), header.ULEB()
	bits := header.U8()
	if c.Err() != nil || header.Err() != nil {
		return 0, wire.ErrTruncated
	}
	if flags&^xzSizes != 0 || id != xzLZMA2 || properties != 1 {
		return 0, fmt.Errorf("%w: a filter other than LZMA2", ErrXZ)
	}

	// DecodeDictCap returns 2^32 − 1 for the largest code, and refuses larger codes.
	n, err := lzma.DecodeDictCap(bits)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrXZ, err)
	}
	return uint64(n), nil
}

// checkSize returns the size of a block's checksum by the type of check (§2.1.1.2).
func (s *xzStream) checkSize() int {
	if s.check == 0 {
		return 0
	}
	return 4 << ((s.check - 1) / 3)
}

// verify reports whether sum is the checksum of data. As the specification says, a
// checksum of an unknown type is not verified.
func (s *xzStream) verify(data, sum []byte) bool {
	switch s.check {
	case xzCRC32:
		return crc32.ChecksumIEEE(data) == binary.LittleEndian.Uint32(sum)
	case xzCRC64:
		return crc64.Checksum(data, crc64.MakeTable(crc64.ECMA)) == binary.LittleEndian.Uint64(sum)
	case xzSHA256:
		want := sha256.Sum256(data)
		return bytes.Equal(want[:], sum)
	}
	return true
}
