// Package squashfs reads the regular files of squashfs 4.0 images: snaps, and what an AppImage has
// after its ELF file. Blocks may be compressed with gzip, xz, lz4 and zstd.
//
// The format is that of Linux's fs/squashfs/squashfs_fs.h. An image begins with a superblock, which has
// the places of the tables. The tables of inodes and of directories are streams of 8 KiB, divided into
// blocks that are compressed each by itself. A file is a list of data blocks; what remains at its end
// may be a part of a fragment block, which several files share.
//
//	image, err := squashfs.Open(file, squashfs.Options{})
//	if err != nil {
//		return err
//	}
//	return image.Walk(squashfs.Visitor{File: func(f *squashfs.File) error {
//		fmt.Println(f.Name, f.Size)
//		return nil
//	}})
package squashfs

import (
	"errors"
	"fmt"
	"io"
	"math"

	"symkit/internal/wire"
)

var (
	// errFormat is the error for an image that contradicts itself.
	errFormat = errors.New("damaged squashfs image")
	// ErrUnread is the error for images of other versions, and for other compressors.
	ErrUnread = errors.New("squashfs image of another kind")
)

const (
	// Magic is what an image begins with.
	Magic = "hsqs"

	section        = "squashfs" // in errors; the offset is that of the block in the image
	superblockSize = 96
	metadataSize   = 8 << 10 // of a block of a table, unpacked
	minBlock       = 4 << 10 // of data
	maxBlock       = 1 << 20
	none           = 1<<32 - 1 // no fragment
	noTable        = 1<<64 - 1
)

// Options bound what an image costs.
type Options struct {
	// Unpacked is called with the size of each block before the block is unpacked, and with EntryCost for
	// each entry of a directory, since damaged directories can share one list of entries. An error ends
	// Walk. Nil accepts all.
	Unpacked func(n int) error
}

// EntryCost is the number of bytes that an entry of a directory counts as for Options.Unpacked.
const EntryCost = 512

// Image is an open image. It is not safe for concurrent use.
type Image struct {
	r         io.ReaderAt
	opt       Options
	unpack    unpacker
	blockSize int
	root      uint64 // reference of the inode

	inodes, directories, fragments uint64 // places of the tables; noTable without fragments
	fragmentCount                  uint32

	metadata blockCache // of the tables
	parts    blockCache // fragment blocks
	zeros    []byte     // a block of a sparse file
	stop     error      // of Options.Unpacked or of the visitor
}

// Open reads the superblock of the image that begins at the start of r.
func Open(r io.ReaderAt, opt Options) (*Image, error) {
	im := &Image{r: r, opt: opt, metadata: newCache(16), parts: newCache(3)}
	buf := make([]byte, superblockSize)
	err := im.readAt(buf, 0)
	if err != nil {
		return nil, err
	}

	c := wire.New(section, buf, false)
	if string(c.Bytes(uint64(len(Magic)))) != Magic {
		c.Fail(0, errFormat)
	}
	c.Skip(8) // number of inodes, time
	im.blockSize = int(min(c.U32(), math.MaxInt32))
	im.fragmentCount = c.U32()
	compressor := c.U16()
	if blockLog := c.U16(); im.blockSize < minBlock || im.blockSize > maxBlock || im.blockSize != 1<<(blockLog&31) {
		c.Fail(12, errFormat)
	}
	c.Skip(4) // flags, number of ids
	if major, minor := c.U16(), c.U16(); c.Err() == nil && (major != 4 || minor != 0) {
		return nil, fmt.Errorf("%w: version %d.%d", ErrUnread, major, minor)
	}
	im.root = c.U64()
	c.Skip(8 + 16) // bytes used, tables of ids and of extended attributes
	im.inodes, im.directories, im.fragments = c.U64(), c.U64(), c.U64()
	if c.Err() != nil {
		return nil, c.Err()
	}

	im.unpack, err = newUnpacker(compressor, max(im.blockSize, metadataSize))
	return im, err
}

// File is a regular file.
type File struct {
	Name string // from the root, without a slash at the start
	Size uint64 // in bytes
	// Inode is the same for all names of a file.
	Inode uint64
	Links uint32 // number of names
	// Reader has the content. It is valid until the visitor returns.
	*Reader
}

// Visitor has the functions that Walk calls.
type Visitor struct {
	// File is called for each name of a regular file. An error ends Walk, unless it is the Reader's: damage
	// of one file.
	File func(f *File) error
	// Directory is called for each directory but the root. An error ends Walk.
	Directory func(name string) error
	// Damaged is called for what cannot be read: a file, or a directory with all that is in it.
	Damaged func(name string, err error)
}

// damaged returns err with a place in the image.
func damaged(at uint64, err error) error {
	c := wire.NewAt(section, nil, int(min(at, math.MaxInt)), false)
	c.Fail(c.Pos(), err)
	return c.Err()
}
