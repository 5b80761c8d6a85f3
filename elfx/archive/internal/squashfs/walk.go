package squashfs

import (
	"fmt"
	"strings"
)

const (
	// emptyDirectory is the size that a directory without entries has: it counts "." and "..".
	emptyDirectory = 3
	maxEntries     = 256  // after one header of a directory
	maxPath        = 4096 // bytes, as PATH_MAX
)

// Walk calls v for all regular files, directory by directory in the order of the names. An error is one
// of the visitor's, or damage of the root.
func (im *Image) Walk(v Visitor) error {
	w := walk{im: im, Visitor: v, seen: map[uint64]bool{}}
	err := w.directory(im.root, "")
	if im.stop != nil {
		return im.stop
	}
	return err
}

// walk is a walk through an image. Image.stop has the error that ends it.
type walk struct {
	im *Image
	Visitor
	seen map[uint64]bool // references of directories: damaged ones can contain each other
}

// directory reads a directory and all that is in it.
func (w *walk) directory(ref uint64, name string) error {
	in, err := w.im.inode(ref)
	if err != nil {
		return err
	}
	if in.kind != directory || w.seen[ref] {
		return damaged(w.im.inodes+ref>>16, fmt.Errorf("%w: no directory of its own", errFormat))
	}
	w.seen[ref] = true
	if in.size <= emptyDirectory {
		return nil
	}

	m := w.im.metadataAt(w.im.directories+in.place, int(in.offset))
	left := in.size - emptyDirectory
	for left > 0 && w.im.stop == nil {
		n, err := w.entries(m, name)
		if err != nil {
			return err
		}
		left -= min(n, left)
	}
	return nil
}

// entries reads a header of a directory and its entries. It returns how many bytes they have.
func (w *walk) entries(m *metadata, dir string) (n uint64, err error) {
	const headerSize, entrySize = 12, 8
	at := m.at
	head := m.cursor(headerSize)
	count, block := uint64(head.U32())+1, uint64(head.U32())
	if head.Err() == nil && count > maxEntries {
		head.Fail(int(at), fmt.Errorf("%w: %d entries after a header", errFormat, count))
	}
	if head.Err() != nil {
		return 0, head.Err()
	}

	n = headerSize
	for range count {
		c := m.cursor(entrySize)
		offset := uint64(c.U16())
		c.Skip(2) // number of the inode
		kind, length := c.U16(), int(c.U16())+1
		text := m.cursor(length)
		name := string(text.Bytes(uint64(length)))
		if text.Err() != nil {
			return 0, text.Err() // has the error of c
		}
		n += uint64(entrySize + length)
		err := w.im.unpacked(EntryCost)
		if err != nil {
			return n, nil // Image.stop has the error
		}
		w.entry(block<<16|offset, kind, dir, name, at)
		if w.im.stop != nil {
			break
		}
	}
	return n, nil
}

// entry passes on what an entry of a directory refers to. at is the place of the entry.
func (w *walk) entry(ref uint64, kind uint16, dir, name string, at uint64) {
	if kind != directory && kind != regular {
		return // a link, a device, a socket
	}
	path := strings.TrimPrefix(dir+"/"+name, "/")
	var err error
	switch {
	case name == "." || name == ".." || strings.ContainsAny(name, "/\x00") || len(path) > maxPath:
		err = damaged(at, fmt.Errorf("%w: a name that is none", errFormat))
	case kind == directory:
		if w.Directory != nil {
			w.im.stop = w.Directory(path)
		}
		if w.im.stop == nil {
			err = w.directory(ref, path)
		}
	default:
		err = w.file(ref, path)
	}
	if err != nil && w.im.stop == nil && w.Damaged != nil {
		w.Damaged(path[:min(len(path), maxPath)], err)
	}
}

// file passes a file on. It returns damage of the file.
func (w *walk) file(ref uint64, path string) error {
	in, err := w.im.inode(ref)
	if err != nil {
		return err
	}
	if in.kind != regular {
		return damaged(w.im.inodes+ref>>16, fmt.Errorf("%w: no regular file", errFormat))
	}
	f := &File{Name: path, Size: in.size, Inode: ref, Links: in.links, Reader: &Reader{im: w.im, inode: in, at: in.place, left: in.size}}
	err = w.File(f)
	if f.Err() != nil {
		return f.Err() // damage of the file alone, unless stop has the limit
	}
	w.im.stop = err
	return nil
}
