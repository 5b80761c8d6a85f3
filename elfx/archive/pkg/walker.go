package pkg

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"strings"

	"symkit/internal/bounds"
	"symkit/internal/limitof"
	"symkit/internal/spool"
	"symkit/limits"
)

var (
	// errNotPackage: the stream has none of the formats.
	errNotPackage = errors.New("not a package")
	// ErrPackage: the package is damaged.
	ErrPackage = errors.New("damaged package")
	// errUnread: the format is known, but not read.
	errUnread = errors.New("format is not read")
	// errNested: packages are nested more than maxNesting deep.
	errNested = errors.New("packages within packages, too deep")
	// ErrStop is returned by a Visitor's File to end Walk, which returns nil then.
	ErrStop = errors.New("stop")
)

const (
	// separator is between the path of a package and the name of a member.
	separator = "!/"
	// HeadSize is how many bytes Is needs: the first header of a tar file.
	HeadSize = 512
	// maxNesting bounds the depth of packages inside packages: a package in a layer of
	// an image in a tar file.
	maxNesting = 4
	// maxLayers bounds how often one stream is compressed: .tar.gz.xz.
	maxLayers = 2
	// maxName bounds the length of names, in bytes, as PATH_MAX does.
	maxName = 4096
	// usualName is the length of a name that a member may have at no cost, in bytes.
	usualName = 256

	elfMagic = "\x7fELF"
)

// Member is one ELF file of a package.
type Member struct {
	// Name is the path in the package, without a slash or dot at the start. For a
	// package inside the package, Name is the name of the inner package, "!/" and the
	// path in the inner package.
	Name string
	// Size is the length in bytes. The stream may end before.
	Size int64
	// Whole is set if the package is one compressed file, this one: ext4.ko.zst.
	Whole bool
}

// Visitor has the functions that Walk calls for each file that it finds.
type Visitor struct {
	// Limits bound the unpacked size of the package. The zero value is the default.
	Limits limits.Limits
	// Name is the name of the package. Without its extension, Name is that of the ELF file in a package that is one
	// compressed file.
	Name string
	// Blob is the path of the package if it is a blob of an OCI image layout. Its bytes must have the
	// digest in the path.
	Blob string
	// At is the file that the package is, if it can be read at any place. Without At, a squashfs image is
	// copied to a temporary file.
	At io.ReaderAt
	// File is called for each ELF file. r has the member's bytes, and is valid during
	// the call alone. An error ends Walk.
	File func(m Member, r io.Reader) error
	// Link is called for each further name of the ELF file that was passed to File as
	// target. A name of a file that was no ELF file is passed too. Link reports whether it
	// keeps the name.
	Link func(name, target string) bool
	// Damaged is called for each package inside the package that cannot be read to its end, and for
	// each image in a tar file, by the tar file's name, that lacks a layer or has another one. The
	// outermost package has no name.
	Damaged func(name string, err error)
}

// walker reads one package.
type walker struct {
	Visitor
	size uint64 // of the package in bytes
	left uint64 // how many bytes may still be unpacked
	// members is how many files may still be passed to File and Link, or be entered.
	members uint64
	// ended is the error with which File ended the walk.
	ended error
}

// counter counts the unpacked bytes of a stream, and fails if they are too many.
type counter struct {
	r io.Reader
	w *walker
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	over := c.w.unpack(n)
	if over != nil {
		return 0, over
	}
	return n, damage(err, "")
}

// unpacked calls read with the content of r, unpacked if r is compressed, and then reads r
// to its end, since the checksum of the compressed stream follows the end of the archive.
// Errors call r by name.
func (w *walker) unpacked(r *bufio.Reader, name string, read func(r *bufio.Reader) error) error {
	head, _ := r.Peek(HeadSize)
	in := r
	if unpack := compressionOf(head); unpack != nil {
		u, err := unpack(r, w.Limits)
		if err != nil {
			return fmt.Errorf("%w: %s%w", ErrPackage, name, err)
		}
		defer u.Close()
		in = bufio.NewReaderSize(&counter{u, w}, bufferSize)
	}

	err := read(in)
	if err == nil {
		_, err = io.Copy(io.Discard, in)
	}
	if err == nil {
		_, err = io.Copy(io.Discard, r)
	}
	return err
}

// file handles a regular file of a package: an ELF file is passed to File, a package
// inside the package is read, and other files are skipped.
func (w *walker) file(m Member, r *bufio.Reader, depth int) error {
	head, err := r.Peek(HeadSize)
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return err
	case bytes.HasPrefix(head, []byte(elfMagic)):
		return w.elf(m, r)
	case IsKernel(m.Name, head):
		return w.kernel(m, r, depth)
	case !w.enters(m.Name, head, r):
		return nil
	case depth+1 >= maxNesting:
		w.damaged(m.Name, errNested)
		return w.member(m.Name)
	}

	// Damage of the inner package costs the inner package alone. Damage of the outer package
	// looks the same here; the next read of the outer package meets it again.
	err = w.member(m.Name)
	if err != nil {
		return err
	}
	verify := func() error { return nil }
	if isLayer(m.Name) {
		var layer io.Reader
		layer, verify = digested(m.Name, r)
		r = bufio.NewReaderSize(layer, bufferSize)
	}
	err = w.stream(r, m.Name+separator, depth+1, 0)
	if err == nil {
		err = verify()
	}
	switch {
	case err == nil || errors.Is(err, errNotPackage):
		return nil
	case w.ended != nil || errors.Is(err, limits.ErrExceeded):
		return err
	}
	w.damaged(m.Name, err)
	return nil
}

// elf passes an ELF file to File.
func (w *walker) elf(m Member, r io.Reader) error {
	err := w.member(m.Name)
	if err == nil {
		err = w.File(m, r)
	}
	if !errors.Is(err, ErrPackage) && !errors.Is(err, limits.ErrExceeded) {
		w.ended = err
	}
	return err
}

// kernel passes a compressed file of the kernel to File. Damage costs the file alone.
func (w *walker) kernel(m Member, r *bufio.Reader, depth int) error {
	err := w.unpacked(r, "", func(r *bufio.Reader) error {
		return w.whole(Member{Name: withoutExtension(m.Name)}, r, depth)
	})
	if err == nil || w.ended != nil || errors.Is(err, limits.ErrExceeded) {
		return err
	}
	w.damaged(m.Name, err)
	return nil
}

// whole passes an unpacked file to File, if the file is an ELF file. The size is known after the last byte.
func (w *walker) whole(m Member, r *bufio.Reader, depth int) error {
	head, err := r.Peek(len(elfMagic))
	if err != nil && err != io.EOF {
		return err
	}
	if string(head) != elfMagic {
		return nil
	}
	return w.anywhere(r, depth, 1, func(file *io.SectionReader) error {
		m.Size = file.Size()
		return w.elf(m, file)
	})
}

// anywhere calls read with the rest of r as a file that can be read at any place: Visitor.At, or a
// temporary file, which vanishes with the call.
func (w *walker) anywhere(r *bufio.Reader, depth, layers int, read func(file *io.SectionReader) error) error {
	if w.At != nil && depth == 0 && layers == 0 {
		return read(io.NewSectionReader(w.At, 0, int64(w.size)))
	}
	file, err := spool.NewFile("", math.MaxInt64)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = io.Copy(file, r)
	if err != nil {
		return err
	}
	return read(file.Reader())
}

// IsKernel reports whether a file is a compressed module or image of Linux's kernel: ext4.ko.zst, vmlinux-5.14.21.gz.
// head is the beginning of the file.
func IsKernel(name string, head []byte) bool {
	isKernel := strings.HasSuffix(withoutExtension(name), ".ko") || strings.HasPrefix(path.Base(name), "vmlinux")
	return isKernel && compressionOf(head) != nil
}

// withoutExtension returns a name without the extension.
func withoutExtension(name string) string { return strings.TrimSuffix(name, path.Ext(name)) }

// member counts a file for which the caller of Walk may keep memory. A long name counts as
// several files.
func (w *walker) member(name string) error {
	return w.charge(uint64(1 + len(name)/usualName))
}

// charge counts n files.
func (w *walker) charge(n uint64) error {
	if n > w.members {
		return w.Limits.Exceeded(limitof.Members, bounds.MembersSize(w.size))
	}
	w.members -= n
	return nil
}

func (w *walker) damaged(name string, err error) {
	if w.Damaged != nil {
		w.Damaged(name, err)
	}
}

// enters reports whether a member that begins with head is read as a package: a .deb or
// .rpm, and a layer of an image. Other archives inside packages are data of programs.
func (w *walker) enters(name string, head []byte, r *bufio.Reader) bool {
	return IsDistro(head) || isLayer(name) && (formatOf(head) == tarball || compressionOf(head) != nil)
}

// isLayer reports whether a name is that of a blob of an OCI image layout
// (image-layout.md: blobs/ALGORITHM/ENCODED) or of a layer that docker save wrote.
func isLayer(name string) bool {
	dir, file := path.Split(name)
	algorithm := strings.TrimSuffix(dir, "/")
	return path.Base(path.Dir(algorithm)) == "blobs" && len(file) >= 32 || file == "layer.tar"
}

// cleaned returns a name without a slash and without dots at its start.
func cleaned(name string) string {
	return strings.TrimPrefix(path.Clean("/"+name), "/")
}

// bufferSize is the size of the buffers that streams are read with. A buffer must have
// HeadSize bytes at least.
const bufferSize = 64 << 10

// unpack counts n bytes that are unpacked.
func (w *walker) unpack(n int) error {
	if uint64(n) > w.left {
		w.left = 0
		return w.Limits.Exceeded(limitof.Package, w.size)
	}
	w.left -= uint64(n)
	return nil
}

// damage returns err as damage of the package, unless err is an error of damage or of a limit already.
func damage(err error, what string) error {
	if err == nil || err == io.EOF || errors.Is(err, ErrPackage) || errors.Is(err, limits.ErrExceeded) {
		return err
	}
	return fmt.Errorf("%w: %s%w", ErrPackage, what, err)
}
