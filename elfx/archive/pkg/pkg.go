// Package pkg reads the packages of distributions as streams: Debian's .deb, RPM, the
// packages of Alpine and Arch, tar files and initramfs images with any of the usual compressions,
// the layers of OCI images, and squashfs images: snaps and AppImages. The content decides the format,
// never the name.
//
// Walk passes each ELF file of a package to its caller while the package is read once from
// start to end. Nothing but squashfs images is stored, and no file but ELF files is looked at.
// The limit package bounds the unpacked size of a package.
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

	"symkit/internal/bounds"
	"symkit/internal/limitof"
	"symkit/limits"
)

// Walk reads a package of the given size in bytes, and calls the functions of v for its
// members in the order of the package. The error is errNotPackage if r is no package.
func Walk(r io.Reader, size int64, v Visitor) error {
	w := walker{Visitor: v, size: uint64(max(size, 0))}
	w.left = v.Limits.Max(limitof.Package, w.size)
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
			return isContent(head)
		}
		u, err := unpack(br, l)
		if err != nil {
			return false
		}
		defer u.Close()
		s = &counter{u, &w}
	}
	head, _ = bufio.NewReaderSize(s, HeadSize).Peek(HeadSize)
	return isContent(head)
}

// isContent reports whether a compressed file is a package. head is the beginning of the unpacked content.
func isContent(head []byte) bool {
	return formatOf(head) != unknown || bytes.HasPrefix(head, []byte(elfMagic))
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

	if layers > 0 && depth == 0 && bytes.HasPrefix(head, []byte(elfMagic)) {
		return w.whole(Member{Name: withoutExtension(w.Name), Whole: true}, r, depth)
	}
	if compressionOf(head) == nil || layers == maxLayers {
		long, _ := r.Peek(UnreadSize) // a shorter file is no ISO image
		return cmp.Or(Unread(long), errNotPackage)
	}
	return w.unpacked(r, "", func(r *bufio.Reader) error { return w.stream(r, prefix, depth, layers+1) })
}
