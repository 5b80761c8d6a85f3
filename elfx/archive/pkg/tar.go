package pkg

import (
	"archive/tar"
	"bufio"
	"bytes"
	"io"
	"strconv"
	"strings"
)

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

// tar reads a tar file. Alpine's packages are three such files without ends between them
// (abuild: signature, control, data), which are one file for the reader.
func (w *walker) tar(r io.Reader, prefix string, depth int) error {
	t := tar.NewReader(r)
	br := bufio.NewReaderSize(nil, bufferSize)
	var images imageFiles
	for {
		h, err := t.Next()
		if err == io.EOF {
			images.check(func(err error) { w.damaged(strings.TrimSuffix(prefix, separator), err) })
			return nil
		}
		if err != nil {
			return damage(err, "")
		}

		name := cleaned(h.Name)
		if len(name) > maxName {
			continue
		}
		switch h.Typeflag {
		case tar.TypeSymlink:
			err := w.imageLink(&images, name)
			if err != nil {
				return err
			}
		case tar.TypeLink:
			err := w.link(prefix+name, prefix+cleaned(h.Linkname))
			if err != nil {
				return err
			}
		case tar.TypeReg, tar.TypeGNUSparse, tar.TypeCont:
			br.Reset(tarErrors{t})
			err := w.imageFile(&images, name, h.Size, br)
			if err == nil {
				err = w.file(Member{Name: prefix + name, Size: h.Size}, br, depth)
			}
			if err != nil {
				return err
			}
		}
	}
}

// link passes a further name of a file on. Only the names that the caller keeps count as
// members: images have more links to other files than ELF files.
func (w *walker) link(name, target string) error {
	if w.Link != nil && w.Link(name, target) {
		return w.member(name)
	}
	return nil
}

// tarErrors names the errors of a tar file's member.
type tarErrors struct{ t *tar.Reader }

func (r tarErrors) Read(p []byte) (int, error) {
	n, err := r.t.Read(p)
	return n, damage(err, "")
}
