package pkg

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// The header of a member of an ar archive (deb(5), ar(5)).
const (
	arHeader = 60
	arSizeAt = 48
	arSize   = 10
)

// deb reads a Debian package (deb(5)): the file system is in the member data.tar, with
// or without a compression.
func (w *walker) deb(r *bufio.Reader, prefix string, depth int) error {
	_, _ = r.Discard(len(arMagic)) // formatOf has seen them
	for {
		name, size, err := arMember(r)
		if err != nil {
			return err
		}
		if strings.HasPrefix(name, "data.tar") {
			data := &io.LimitedReader{R: r, N: size}
			err := w.unpacked(bufio.NewReaderSize(data, bufferSize), "data.tar: ", func(r *bufio.Reader) error {
				return w.tar(r, prefix, depth)
			})
			if err == nil && data.N > 0 {
				err = fmt.Errorf("%w: %s: %w", ErrPackage, name, io.ErrUnexpectedEOF)
			}
			return err
		}

		// Members begin at even offsets.
		_, err = io.CopyN(io.Discard, r, size+size%2)
		if err != nil {
			return fmt.Errorf("%w: %s: %w", ErrPackage, name, err)
		}
	}
}

// arMember reads the header of a member and returns its name and size in bytes.
func arMember(r io.Reader) (name string, size int64, err error) {
	header := make([]byte, arHeader)
	_, err = io.ReadFull(r, header)
	if err == io.EOF {
		return "", 0, fmt.Errorf("%w: no data.tar", ErrPackage)
	}
	if err != nil {
		return "", 0, fmt.Errorf("%w: header of a member: %w", ErrPackage, err)
	}

	size, err = strconv.ParseInt(strings.TrimRight(string(header[arSizeAt:][:arSize]), " "), 10, 64)
	if err != nil || size < 0 || string(header[arHeader-2:]) != "`\n" {
		return "", 0, fmt.Errorf("%w: no header of a member", ErrPackage)
	}
	return strings.TrimRight(string(header[:16]), " /"), size, nil
}
