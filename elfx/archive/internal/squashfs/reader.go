package squashfs

import (
	"fmt"
	"io"

	"symkit/internal/wire"
	"symkit/located"
)

// Reader reads the content of a file, block by block.
type Reader struct {
	im    *Image
	inode inode
	at    uint64 // of the next block in the image
	left  uint64 // bytes that are not read from blocks yet
	rest  []byte // of the last block
	err   error
}

// Err returns the error that reading has met: damage of this file.
func (r *Reader) Err() error {
	if r.err == io.EOF {
		return nil
	}
	return r.err
}

// Read implements io.Reader. After damage it returns the error of Err.
func (r *Reader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 && r.err == nil {
		r.fill()
	}
	if len(r.rest) == 0 {
		return 0, r.err
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// fill reads the next block. The last block of a file is often shorter than the others, and is then a
// part of a fragment block, which several files share.
func (r *Reader) fill() {
	size := int(min(r.left, uint64(r.im.blockSize)))
	switch {
	case size == 0:
		r.err = io.EOF
	case size < r.im.blockSize && r.inode.fragment != none:
		r.rest, r.err = r.im.fragment(r.inode.fragment, uint64(r.inode.offset), size)
	default:
		r.rest, r.err = r.block(size)
	}
	r.left -= uint64(size)
}

// block reads the next block of the file, which has size bytes.
func (r *Reader) block(size int) ([]byte, error) {
	word := r.inode.blocks.cursor(4)
	packed, raw := sizeWord(word.U32())
	if word.Err() != nil {
		return nil, word.Err()
	}
	if packed == 0 {
		return r.im.sparse(size)
	}
	data, err := r.im.block(r.at, packed, raw, size)
	if err == nil && len(data) != size {
		err = damaged(r.at, located.ErrTruncated)
	}
	r.at += uint64(packed)
	return data, err
}

// sizeWord divides the word that describes a block of data.
func sizeWord(word uint32) (size int, raw bool) {
	const uncompressed = 1 << 24
	return int(word &^ uncompressed & 0x1ffffff), word&uncompressed != 0
}

// sparse returns a block of zeros, which the image does not have.
func (im *Image) sparse(size int) ([]byte, error) {
	if im.zeros == nil {
		im.zeros = make([]byte, im.blockSize)
	}
	return im.zeros[:size], im.unpacked(size)
}

// fragment returns a part of a fragment block. The table of fragments is a list of the places of its
// blocks, of 512 entries each.
func (im *Image) fragment(number uint32, offset uint64, size int) ([]byte, error) {
	const entry, entries = 16, metadataSize / 16
	if number >= im.fragmentCount || im.fragments == noTable {
		return nil, damaged(im.fragments, fmt.Errorf("%w: no fragment %d", errFormat, number))
	}
	at := im.fragments + uint64(number/entries)*8
	buf := make([]byte, 8)
	err := im.readAt(buf, at)
	if err != nil {
		return nil, err
	}
	place := wire.New(section, buf, false)
	c := im.metadataAt(place.U64(), int(number%entries)*entry).cursor(entry)
	start := c.U64()
	packed, raw := sizeWord(c.U32())
	if c.Err() != nil {
		return nil, c.Err()
	}

	b, err := im.parts.get(start, func() (cached, error) {
		data, err := im.block(start, packed, raw, im.blockSize)
		return cached{at: start, data: data}, err
	})
	if err == nil && (offset > uint64(len(b.data)) || uint64(size) > uint64(len(b.data))-offset) {
		err = damaged(start, located.ErrTruncated)
	}
	if err != nil {
		return nil, err
	}
	return b.data[offset:][:size], nil
}
