package pkg

import (
	"bufio"
	"fmt"
	"io"
	"strconv"

	"symkit/internal/bounds"
	"symkit/internal/gunzip"
	"symkit/internal/limitof"
)

// The formats of cpio archives in RPM packages (cpio(5), "New ASCII Format"). A stripped
// header has the index of a file in the package's header instead of its name and size.
const (
	cpioStripped = "07070X"
	cpioHeader   = 110 // bytes
	cpioEnd      = "TRAILER!!!"
	cpioRegular  = 0o100000
	cpioType     = 0o170000
)

// rpmFile is a file that a header lists.
type rpmFile struct {
	dir    string // with a slash at its end
	base   string
	size   int64
	mode   uint16
	inode  uint32
	target string // of a symbolic link
	linked bool   // has several names
	last   bool   // is the last of them
}

// linkSize bounds the size of an entry that is no regular file: of a symbolic link its
// target.
func (f *rpmFile) linkSize() int64 {
	const link = 0o120000
	if uint64(f.mode)&cpioType == link {
		return int64(len(f.target))
	}
	return 0
}

// cpioEntry is the header of one file.
type cpioEntry struct {
	inode, mode, links uint64
	size               int64
	name               string
}

// initramfs reads one or more cpio archives, with zero bytes between them, of which the last may be
// compressed (Linux's documentation: "initramfs buffer format").
func (w *walker) initramfs(r *bufio.Reader, prefix string, depth, layers int) error {
	for {
		err := w.cpio(r, prefix, depth, nil)
		if err == nil {
			err = gunzip.SkipZeros(r)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}

		head, _ := r.Peek(HeadSize) // there is a byte at least
		switch {
		case formatOf(head) == cpio:
		case compressionOf(head) != nil && layers < maxLayers:
			return w.unpacked(r, "", func(r *bufio.Reader) error { return w.initramfs(r, prefix, depth, layers+1) })
		default:
			return fmt.Errorf("%w: no cpio header", ErrPackage)
		}
	}
}

// cpio reads a cpio archive. files are those of the package's header.
func (w *walker) cpio(r *bufio.Reader, prefix string, depth int, files []rpmFile) error {
	c := cpioReader{r: r, files: files}
	br := bufio.NewReaderSize(nil, bufferSize)
	others := map[uint64][]string{} // names of files whose bytes come with a later name
	var waiting uint64              // number of these names
	for {
		e, err := c.next()
		if err != nil {
			return cpioError(err)
		}
		if e.name == cpioEnd {
			return nil
		}

		name := prefix + cleaned(e.name)
		body := io.LimitedReader{R: r, N: e.size}
		switch {
		case e.mode&cpioType != cpioRegular || len(name) > maxName:
		case e.links > 1 && e.size == 0:
			waiting++
			if waiting > bounds.Members(w.Limits, w.size) {
				return w.Limits.Exceeded(limitof.Members, bounds.MembersSize(w.size))
			}
			others[e.inode] = append(others[e.inode], name)
		default:
			br.Reset(&body)
			err := w.file(Member{Name: name, Size: e.size}, br, depth)
			if err != nil {
				return err
			}
			for _, other := range others[e.inode] {
				err := w.link(other, name)
				if err != nil {
					return err
				}
			}
			waiting -= uint64(len(others[e.inode]))
			delete(others, e.inode)
		}

		// The rest of the file and its padding.
		_, err = io.CopyN(io.Discard, r, body.N+(-e.size&3))
		if err != nil {
			return cpioError(err)
		}
	}
}

// cpioError returns err as damage of the archive, which has no end without a trailer.
func cpioError(err error) error {
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return damage(err, "cpio archive: ")
}

// cpioReader reads the headers of a cpio archive.
type cpioReader struct {
	r     *bufio.Reader
	files []rpmFile
}

// next reads the next header and the name.
func (c *cpioReader) next() (e cpioEntry, err error) {
	magic := make([]byte, len(cpioNew))
	_, err = io.ReadFull(c.r, magic)
	if err != nil {
		return e, err
	}

	switch string(magic) {
	case cpioNew, cpioCRC:
		return c.full()
	case cpioStripped:
		return c.stripped()
	}
	return e, fmt.Errorf("%w: no cpio header", ErrPackage)
}

// full reads the 13 fields of a header, of eight hexadecimal digits each, and the name.
func (c *cpioReader) full() (e cpioEntry, err error) {
	buf := make([]byte, cpioHeader-len(cpioNew))
	_, err = io.ReadFull(c.r, buf)
	if err != nil {
		return e, err
	}
	var fields [13]uint64
	for i := range fields {
		fields[i], err = strconv.ParseUint(string(buf[8*i:][:8]), 16, 32)
		if err != nil {
			return e, fmt.Errorf("%w: field of a cpio header: %w", ErrPackage, err)
		}
	}
	e.inode, e.mode, e.links, e.size = fields[0], fields[1], fields[4], int64(fields[6])

	// The name ends in NUL. Header and name together are padded to four bytes.
	length := int(fields[11])
	if length < 1 || length > maxName {
		return e, fmt.Errorf("%w: name of %d bytes in a cpio header", ErrPackage, length)
	}
	name := make([]byte, length+(-(cpioHeader+length)&3))
	_, err = io.ReadFull(c.r, name)
	e.name = string(name[:length-1])
	return e, err
}

// stripped reads the index of a file in the package's header.
func (c *cpioReader) stripped() (e cpioEntry, err error) {
	buf := make([]byte, 8+2) // padded to four bytes, with the magic number
	_, err = io.ReadFull(c.r, buf)
	if err != nil {
		return e, err
	}
	index, err := strconv.ParseUint(string(buf[:8]), 16, 32)
	if err != nil || index >= uint64(len(c.files)) {
		return e, fmt.Errorf("%w: a file that the header lacks in the cpio archive", ErrPackage)
	}

	f := &c.files[index]
	e = cpioEntry{inode: uint64(f.inode), mode: uint64(f.mode), links: 1, size: f.size}
	if f.linked && !f.last {
		e.links, e.size = 2, 0 // the bytes come with the last name
	}
	if e.mode&cpioType != cpioRegular {
		e.size = f.linkSize()
	}
	if len(f.dir)+len(f.base) > maxName {
		e.mode = 0 // skipped, as in the other formats
	} else {
		e.name = f.dir + f.base
	}
	return e, nil
}
