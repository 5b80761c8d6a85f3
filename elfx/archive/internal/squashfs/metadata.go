package squashfs

import (
	"fmt"

	"symkit/internal/wire"
)

// metadata reads a table from some place on.
type metadata struct {
	im   *Image
	at   uint64 // of the block in the image
	next uint64 // of the block after
	rest []byte // of the block
	err  error
}

// metadataAt returns a reader that begins at an offset in the unpacked block at a place in the image.
func (im *Image) metadataAt(at uint64, offset int) *metadata {
	m := &metadata{im: im, next: at}
	m.fill()
	if m.err == nil && offset >= len(m.rest) {
		m.err = damaged(m.at, fmt.Errorf("%w: offset %d in a block of %d bytes", errFormat, offset, len(m.rest)))
	}
	if m.err == nil {
		m.rest = m.rest[offset:]
	}
	return m
}

// fill reads the next block.
func (m *metadata) fill() {
	b, err := m.im.metadataBlock(m.next)
	if err == nil && len(b.data) == 0 {
		err = damaged(m.next, fmt.Errorf("%w: an empty block", errFormat))
	}
	m.at, m.next, m.rest, m.err = m.next, b.next, b.data, err
}

// cursor reads n bytes and returns a cursor over them. After an error the cursor is empty and has the
// error.
func (m *metadata) cursor(n int) wire.Cursor {
	at := m.at
	var data []byte
	for m.err == nil && len(data) < n {
		if len(m.rest) == 0 {
			m.fill()
			continue
		}
		if data == nil && len(m.rest) >= n {
			data, m.rest = m.rest[:n], m.rest[n:] // the usual case, without a copy
			break
		}
		k := min(n-len(data), len(m.rest))
		data, m.rest = append(data, m.rest[:k]...), m.rest[k:]
	}
	c := wire.NewAt(section, data, int(at), false)
	if m.err != nil {
		c.Fail(int(at), m.err)
	}
	return c
}

// Types of inodes. Those from extended on have more fields; directories have basic types alone.
const (
	directory = 1
	regular   = 2
	extended  = 7 // added to the basic type
)

// inode is an inode of a directory or a regular file.
type inode struct {
	kind  uint16
	links uint32
	size  uint64
	place uint64 // of the first block of a file, or of the block of a directory from the table's start
	// fragment is the number of the block that the end of a file is in, and offset the place in this
	// block. For a directory, offset is the place in the block of the table.
	fragment uint32
	offset   uint32

	blocks *metadata // the sizes of a file's blocks
}

// inode reads an inode by its reference: the place of a block of the table, and 16 bits of the place in
// the block.
func (im *Image) inode(ref uint64) (in inode, err error) {
	m := im.metadataAt(im.inodes+ref>>16, int(ref&0xffff))
	head := m.cursor(16)
	in.kind, in.links, in.fragment = head.U16(), 1, none

	switch in.kind {
	case directory:
		c := m.cursor(16)
		in.place, in.links, in.size, in.offset = uint64(c.U32()), c.U32(), uint64(c.U16()), uint32(c.U16())
		err = c.Err()
	case directory + extended:
		c := m.cursor(24)
		in.links, in.size, in.place = c.U32(), uint64(c.U32()), uint64(c.U32())
		c.Skip(6) // parent, number of index entries
		in.offset = uint32(c.U16())
		in.kind, err = directory, c.Err()
	case regular:
		c := m.cursor(16)
		in.place, in.fragment, in.offset, in.size = uint64(c.U32()), c.U32(), c.U32(), uint64(c.U32())
		err = c.Err()
	case regular + extended:
		c := m.cursor(40)
		in.place, in.size = c.U64(), c.U64()
		c.Skip(8) // bytes saved by sparse blocks
		in.links, in.fragment, in.offset = c.U32(), c.U32(), c.U32()
		in.kind, err = regular, c.Err()
	}
	in.blocks = m
	if head.Err() != nil {
		err = head.Err()
	}
	return in, err
}
