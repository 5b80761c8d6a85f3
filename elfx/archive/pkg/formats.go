package pkg

import (
	"bytes"
	"strconv"

	"symkit/elfx/archive/internal/squashfs"
)

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
	cpioNew  = "070701"
	cpioCRC  = "070702"
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

// isTar reports whether head begins with a header block of a tar file: one whose
// checksum is right (POSIX.1, pax: "ustar Interchange Format"; the old tar has the same
// checksum).
func isTar(head []byte) bool {
	const at, size = 148, 8 // of the checksum, which counts as spaces
	if len(head) < HeadSize || head[0] == 0 {
		return false
	}
	field := bytes.Trim(head[at:at+size], " \x00")
	want, err := strconv.ParseUint(string(field), 8, 32)
	if err != nil {
		return false
	}

	sum := uint64(size * ' ')
	for i, b := range head[:HeadSize] {
		if i < at || i >= at+size {
			sum += uint64(b)
		}
	}
	return sum == want
}

// isAppImage reports whether head is that of an AppImage of type 2, which has a mark in the padding of
// the ELF header.
func isAppImage(head []byte) bool {
	return len(head) >= 11 && bytes.HasPrefix(head, []byte(elfMagic)) && string(head[8:11]) == "AI\x02"
}

// IsDistro reports whether a file that begins with head is a .deb or .rpm.
func IsDistro(head []byte) bool { return formatOf(head) == deb || formatOf(head) == rpm }

// IsImage reports whether a file that begins with head is a squashfs image, such as a snap, or an AppImage.
func IsImage(head []byte) bool { return formatOf(head) == image || formatOf(head) == appImage }
