package pkg

import (
	"bufio"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"math"

	"symkit/elfx/archive/internal/squashfs"
	"symkit/internal/wire"
)

// A squashfs image cannot be read as a stream, since its tables are at its end. An image that is not
// a file of this machine is copied to a temporary file.

// squashfs reads a squashfs image.
func (w *walker) squashfs(r *bufio.Reader, prefix string, depth, layers int) error {
	return w.anywhere(r, depth, layers, func(file *io.SectionReader) error { return w.image(file, prefix, depth) })
}

// appImage reads an AppImage of type 2: an ELF file, which is the first member and has no name, and a
// squashfs image after it (AppImage specification, "Type 2 image format").
func (w *walker) appImage(r *bufio.Reader, prefix string, depth, layers int) error {
	return w.anywhere(r, depth, layers, func(file *io.SectionReader) error {
		end, err := elfEnd(file)
		if err != nil {
			return err
		}
		runtime := bufio.NewReaderSize(io.NewSectionReader(file, 0, end), bufferSize)
		err = w.file(Member{Name: prefix, Size: end}, runtime, depth)
		if err != nil {
			return err
		}

		image := io.NewSectionReader(file, end, file.Size()-end)
		magic := make([]byte, len(squashfs.Magic))
		_, err = image.ReadAt(magic, 0)
		if err != nil || string(magic) != squashfs.Magic {
			return fmt.Errorf("%w: an AppImage without a squashfs image; unpack it with --appimage-extract", errUnread)
		}
		return w.image(image, prefix, depth)
	})
}

// image passes the files of a squashfs image on.
func (w *walker) image(r io.ReaderAt, prefix string, depth int) error {
	im, err := squashfs.Open(r, squashfs.Options{Unpacked: w.unpack})
	if errors.Is(err, squashfs.ErrUnread) {
		return fmt.Errorf("%w: a %w; unpack it with unsquashfs", errUnread, err)
	}
	if err != nil {
		return damage(err, "")
	}

	br := bufio.NewReaderSize(nil, bufferSize)
	first := map[uint64]string{} // the first names of ELF files with several names
	err = im.Walk(squashfs.Visitor{
		Directory: w.member,
		File: func(f *squashfs.File) error {
			name := prefix + f.Name
			target, known := first[f.Inode]
			if known {
				return w.link(name, target)
			}
			br.Reset(imageErrors{f})
			head, _ := br.Peek(len(elfMagic))
			if f.Links > 1 && string(head) == elfMagic {
				first[f.Inode] = name
			}
			return w.file(Member{Name: name, Size: int64(min(f.Size, math.MaxInt64))}, br, depth)
		},
		Damaged: func(name string, err error) { w.damaged(prefix+name, damage(err, "")) },
	})
	return damage(err, "")
}

// imageErrors names the errors of a file's content.
type imageErrors struct{ r io.Reader }

func (r imageErrors) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	return n, damage(err, "")
}

// elfEnd returns the size of the ELF file at the start of a file: its section headers, or its last
// section, end there.
func elfEnd(file *io.SectionReader) (int64, error) {
	head := make([]byte, 64)
	_, err := file.ReadAt(head, 0)
	if err != nil {
		return 0, damage(cut(err), "")
	}
	c := wire.New("ELF header", head, head[elf.EI_DATA] == byte(elf.ELFDATA2MSB))
	word, at := 8, uint64(0x28) // of e_shoff
	if head[elf.EI_CLASS] == byte(elf.ELFCLASS32) {
		word, at = 4, 0x20
	}
	c.Seek(at)
	start := c.Uint(word)
	c.Skip(4 + 3*2) // flags, sizes of the header and of program headers, number of these
	size, count := uint64(c.U16()), uint64(c.U16())
	end := start + size*count
	if c.Err() != nil || start > math.MaxInt64/2 || end > uint64(file.Size()) || count == 0 || size < uint64(6*word) {
		return 0, fmt.Errorf("%w: an AppImage without the end of its ELF file", ErrPackage)
	}

	// The last section can be after the headers.
	last := make([]byte, size)
	_, err = file.ReadAt(last, int64(end-size))
	if err != nil {
		return 0, damage(cut(err), "")
	}
	c = wire.NewAt("section headers", last, int(end-size), c.BigEndian())
	c.Skip(uint64(8 + 2*word)) // name, type, flags, address
	offset, length := c.Uint(word), c.Uint(word)
	if c.Err() == nil && offset <= uint64(file.Size()) && length <= uint64(file.Size())-offset {
		end = max(end, offset+length)
	}
	return int64(end), nil
}

// cut returns err, with io.EOF as a file that ends too soon.
func cut(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
