package pkg

import (
	"archive/tar"
	"bufio"
	"io"
	"strings"
)

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
