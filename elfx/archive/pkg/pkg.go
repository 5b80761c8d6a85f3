// Package pkg reads the packages of distributions as streams: Debian's .deb, RPM, the
// packages of Alpine and Arch, tar files and initramfs images with any of the usual compressions,
// the layers of OCI images, and squashfs images: snaps and AppImages. The content decides the format,
// never the name.
//
// Walk passes each ELF file of a package to its caller while the package is read once from
// start to end. Nothing but squashfs images is stored, and no file but ELF files is looked at.
// limits.Package bounds the unpacked size of a package.
//
//	err := pkg.Walk(file, size, pkg.Visitor{File: func(m pkg.Member, r io.Reader) error {
//		fmt.Println(m.Name, m.Size)
//		return nil
//	}})
//	if err != nil {
//		return err
//	}
package pkg

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"symkit/elfx/archive/internal/squashfs"
	"symkit/internal/bounds"
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
}

// Visitor has the functions that Walk calls for each file that it finds.
type Visitor struct {
	// Limits bound the unpacked size of the package. The zero value is the default.
	Limits limits.Limits
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

// Walk reads a package of the given size in bytes, and calls the functions of v for its
// members in the order of the package. The error is errNotPackage if r is no package.
func Walk(r io.Reader, size int64, v Visitor) error {
	w := walker{Visitor: v, size: uint64(max(size, 0))}
	w.left = v.Limits.Max(limits.Package, w.size)
	w.members = bounds.Members(v.Limits, w.size)
	r, verify := digested(v.Blob, r)
	err := w.stream(bufio.NewReaderSize(r, bufferSize), "", 0, 0)
	if errors.Is(err, ErrStop) {
		return nil
	}
	if err == nil {
		err = verify()
	}
	return err
}

// bufferSize is the size of the buffers that streams are read with. A buffer must have
// HeadSize bytes at least.
const bufferSize = 64 << 10

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

// Is reports whether a file that begins with head is a package that Walk reads. head is
// the whole file or at least HeadSize bytes of it. For a compressed file, more is read
// with more: it returns a reader of the whole file.
func Is(head []byte, more func() (io.ReadCloser, error), l limits.Limits) bool {
	head = head[:min(len(head), HeadSize)]
	if formatOf(head) != unknown {
		return true
	}
	if compressionOf(head) == nil {
		return false
	}

	// The start of the uncompressed file decides.
	r, err := more()
	if err != nil {
		return false
	}
	defer r.Close()

	w := walker{Visitor: Visitor{Limits: l}, left: 1 << 20}
	var s io.Reader = r
	for range maxLayers {
		br := bufio.NewReaderSize(s, bufferSize)
		head, _ := br.Peek(HeadSize)
		unpack := compressionOf(head)
		if unpack == nil {
			return formatOf(head) != unknown
		}
		u, err := unpack(br, l)
		if err != nil {
			return false
		}
		defer u.Close()
		s = &counter{u, &w}
	}
	head, _ = bufio.NewReaderSize(s, HeadSize).Peek(HeadSize)
	return formatOf(head) != unknown
}

// format is a format of packages.
type format uint8

const (
	unknown  format = iota
	deb             // deb(5): an ar archive of debian-binary, control.tar and data.tar
	rpm             // lead, headers and a cpio archive
	tarball         // POSIX.1 ustar and pax, GNU's and the old tar
	adb             // version 3 of Alpine's packages
	cpio            // an initramfs, the new formats of cpio(5)
	image           // squashfs 4, as snaps are
	appImage        // an ELF file and a squashfs image
)

const (
	arMagic  = "!<arch>\n"
	debMagic = arMagic + "debian-binary"
	rpmMagic = "\xed\xab\xee\xdb"
	adbMagic = "ADB"
)

// formatOf returns the format of a stream that begins with head.
func formatOf(head []byte) format {
	switch {
	case bytes.HasPrefix(head, []byte(debMagic)):
		return deb
	case bytes.HasPrefix(head, []byte(rpmMagic)):
		return rpm
	case bytes.HasPrefix(head, []byte(adbMagic)) && len(head) > 3 && bytes.IndexByte([]byte(".dc"), head[3]) >= 0:
		return adb
	case bytes.HasPrefix(head, []byte(cpioNew)) || bytes.HasPrefix(head, []byte(cpioCRC)):
		return cpio
	case bytes.HasPrefix(head, []byte(squashfs.Magic)):
		return image
	case isAppImage(head):
		return appImage
	case isTar(head):
		return tarball
	}
	return unknown
}

// others are formats that hold programs and are not read, by what they begin with, and what to do.
var others = []struct{ magic, what string }{
	{"7z\xbc\xaf\x27\x1c", "a 7-Zip archive; unpack it with 7z x"},
	{"LZIP", "a file of lzip; unpack it with lzip -d"},
	{"sqsh", "a squashfs image of a big-endian machine; unpack it with unsquashfs"},
	{"Rar!\x1a\x07", "a RAR archive; unpack it with unrar x"},
	{"xar!", "a xar archive; unpack it with xar -x"},
	{"070707", "a cpio archive of the old format; unpack it with cpio -i"},
	{"\xc7\x71", "a binary cpio archive; unpack it with cpio -i"},
}

// UnreadSize is how many bytes Unread needs at most.
const UnreadSize = isoAt + len(isoMagic)

// isoMagic is at isoAt in an ISO image (ECMA-119 §8.1).
const (
	isoMagic = "CD001"
	isoAt    = 0x8001
)

// Unread returns an errUnread that names the format if a file that begins with head is of a format
// that holds programs and is not read. An ISO image needs UnreadSize bytes of head.
func Unread(head []byte) error {
	for _, f := range others {
		if bytes.HasPrefix(head, []byte(f.magic)) {
			return fmt.Errorf("%w: %s", errUnread, f.what)
		}
	}
	if len(head) > isoAt && bytes.HasPrefix(head[isoAt:], []byte(isoMagic)) {
		return fmt.Errorf("%w: an ISO image; unpack it with bsdtar -xf, or mount it", errUnread)
	}
	return nil
}

// stream reads a stream of any format. The names of its members begin with prefix. The
// stream was unpacked the given number of times.
func (w *walker) stream(r *bufio.Reader, prefix string, depth, layers int) error {
	head, err := r.Peek(HeadSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}

	switch formatOf(head) {
	case deb:
		return w.deb(r, prefix, depth)
	case rpm:
		return w.rpm(r, prefix, depth)
	case tarball:
		return w.tar(r, prefix, depth)
	case cpio:
		return w.initramfs(r, prefix, depth, layers)
	case image:
		return w.squashfs(r, prefix, depth, layers)
	case appImage:
		return w.appImage(r, prefix, depth, layers)
	case adb:
		return fmt.Errorf("%w: a package of apk-tools 3; unpack it with apk extract", errUnread)
	}

	if compressionOf(head) == nil || layers == maxLayers {
		long, _ := r.Peek(UnreadSize) // a shorter file is no ISO image
		return cmp.Or(Unread(long), errNotPackage)
	}
	return w.unpacked(r, "", func(r *bufio.Reader) error { return w.stream(r, prefix, depth, layers+1) })
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

// damage returns err as damage of the package, unless err is an error of damage or of a limit already.
func damage(err error, what string) error {
	if err == nil || err == io.EOF || errors.Is(err, ErrPackage) || errors.Is(err, limits.ErrExceeded) {
		return err
	}
	return fmt.Errorf("%w: %s%w", ErrPackage, what, err)
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

// file handles a regular file of a package: an ELF file is passed to File, a package
// inside the package is read, and other files are skipped.
func (w *walker) file(m Member, r *bufio.Reader, depth int) error {
	head, err := r.Peek(HeadSize)
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return err
	case bytes.HasPrefix(head, []byte(elfMagic)):
		err := w.member(m.Name)
		if err == nil {
			err = w.File(m, r)
		}
		if !errors.Is(err, ErrPackage) && !errors.Is(err, limits.ErrExceeded) {
			w.ended = err
		}
		return err
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

// member counts a file for which the caller of Walk may keep memory. A long name counts as
// several files.
func (w *walker) member(name string) error {
	return w.charge(uint64(1 + len(name)/usualName))
}

// charge counts n files.
func (w *walker) charge(n uint64) error {
	if n > w.members {
		return w.Limits.Exceeded(limits.Members, bounds.MembersSize(w.size))
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

// IsDistro reports whether a file that begins with head is a .deb or .rpm.
func IsDistro(head []byte) bool { return formatOf(head) == deb || formatOf(head) == rpm }

// IsImage reports whether a file that begins with head is a squashfs image, such as a snap, or an AppImage.
func IsImage(head []byte) bool { return formatOf(head) == image || formatOf(head) == appImage }

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
