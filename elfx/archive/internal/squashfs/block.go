package squashfs

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
	"github.com/mikelolasagasti/xz"
	"github.com/pierrec/lz4/v4"

	"symkit/internal/wire"
	"symkit/located"
)

// unpacker unpacks src to dst and returns the number of bytes. More than dst can hold is an error.
type unpacker func(dst, src []byte) (n int, err error)

// newUnpacker returns the function for a compressor of the superblock. No window is larger than the
// largest block, as in Linux.
func newUnpacker(compressor uint16, largest int) (unpacker, error) {
	switch compressor {
	case 1:
		return unpackStreams(func(r io.Reader) (io.Reader, error) { return zlib.NewReader(r) }), nil
	case 4:
		return unpackStreams(func(r io.Reader) (io.Reader, error) { return xz.NewReader(r, uint32(largest)) }), nil
	case 5:
		return func(dst, src []byte) (int, error) { return lz4.UncompressBlock(src, dst) }, nil
	case 6:
		z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxMemory(uint64(largest)), zstd.WithDecodeAllCapLimit(true))
		if err != nil {
			return nil, err
		}
		return func(dst, src []byte) (int, error) {
			out, err := z.DecodeAll(src, dst[:0:len(dst)])
			return len(out), err
		}, nil
	case 2, 3:
		return nil, fmt.Errorf("%w: compressed with %s", ErrUnread, []string{"lzma", "lzo"}[compressor-2])
	}
	return nil, fmt.Errorf("%w: compressor %d", ErrUnread, compressor)
}

var errTooLong = errors.New("block is too long")

// unpackStreams returns an unpacker for a format with a reader.
func unpackStreams(open func(r io.Reader) (io.Reader, error)) unpacker {
	return func(dst, src []byte) (int, error) {
		r, err := open(bytes.NewReader(src))
		if err != nil {
			return 0, err
		}
		n, err := io.ReadFull(r, dst)
		switch {
		case err == io.EOF || err == io.ErrUnexpectedEOF:
			return n, nil
		case err != nil:
			return n, err
		}

		// The checksum follows the last byte.
		_, err = io.ReadFull(r, make([]byte, 1))
		if err == nil {
			return n, errTooLong
		}
		if err == io.EOF {
			err = nil
		}
		return n, err
	}
}

// block reads a block of size bytes, and unpacks it unless raw is set. The result has at most most bytes.
func (im *Image) block(at uint64, size int, raw bool, most int) ([]byte, error) {
	if size == 0 || size > im.blockSize || raw && size > most {
		return nil, damaged(at, fmt.Errorf("%w: a block of %d bytes", errFormat, size))
	}
	err := im.unpacked(most)
	if err != nil {
		return nil, err
	}
	src := make([]byte, size)
	err = im.readAt(src, at)
	if err != nil || raw {
		return src, err
	}

	dst := make([]byte, most)
	n, err := im.unpack(dst, src)
	if err != nil {
		return nil, damaged(at, fmt.Errorf("%w: %w", errFormat, err))
	}
	return dst[:n], nil
}

// readAt fills buf from a place in the image. An error other than the end of the image ends the walk.
func (im *Image) readAt(buf []byte, at uint64) error {
	if at > math.MaxInt64-maxBlock {
		return damaged(at, located.ErrTruncated)
	}
	n, err := im.r.ReadAt(buf, int64(at))
	switch {
	case n == len(buf):
		return nil
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return damaged(at, located.ErrTruncated)
	}
	im.stop = cmp.Or(im.stop, err)
	return err
}

// unpacked counts bytes.
func (im *Image) unpacked(n int) error {
	if im.opt.Unpacked != nil && im.stop == nil {
		im.stop = im.opt.Unpacked(n)
	}
	return im.stop
}

// blockCache holds the blocks that were read last, by place. The oldest block goes first.
type blockCache struct {
	blocks []cached
	oldest int
}

type cached struct {
	at   uint64 // 0 if there is none: the superblock is there
	next uint64 // place of the next block
	data []byte
}

func newCache(n int) blockCache { return blockCache{blocks: make([]cached, n)} }

// get returns the block at a place. read is called for one that is not held.
func (b *blockCache) get(at uint64, read func() (cached, error)) (cached, error) {
	for _, c := range b.blocks {
		if c.at == at && at > 0 {
			return c, nil
		}
	}
	c, err := read()
	if err == nil {
		b.blocks[b.oldest] = c
		b.oldest = (b.oldest + 1) % len(b.blocks)
	}
	return c, err
}

// metadataBlock reads the block of a table at a place in the image.
func (im *Image) metadataBlock(at uint64) (cached, error) {
	return im.metadata.get(at, func() (c cached, err error) {
		head := make([]byte, 2)
		err = im.readAt(head, at)
		if err != nil {
			return c, err
		}
		const raw = 1 << 15
		word := wire.New(section, head, false)
		size := word.U16()
		c.at, c.next = at, at+2+uint64(size&^raw)
		c.data, err = im.block(at+2, int(size&^raw), size&raw != 0, metadataSize)
		return c, err
	})
}
