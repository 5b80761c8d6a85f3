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
	header := make([]byte, arHeader)
	for {
		_, err := io.ReadFull(r, header)
		if err == io.EOF {
			return fmt.Errorf("%w: no data.tar", ErrPackage)
		}
		if err != nil {
			return fmt.Errorf("%w: header of a member: %w", ErrPackage, err)
		}

		size, err := strconv.ParseInt(strings.TrimRight(string(header[arSizeAt:][:arSize]), " "), 10, 64)
		if err != nil || size < 0 || string(header[arHeader-2:]) != "`\n" {
			return fmt.Errorf("%w: no header of a member", ErrPackage)
		}
		name := strings.TrimRight(string(header[:16]), " /")
		if strings.HasPrefix(name, "data.tar") {
			data := &io.LimitedReader{R: r, N: size}
			err := w.dataTar(data, prefix, depth)
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

// dataTar reads the file system of a package. A package without files has an empty one.
func (w *walker) dataTar(r io.Reader, prefix string, depth int) error {
	br := bufio.NewReaderSize(r, bufferSize)
	head, _ := br.Peek(HeadSize)
	var in io.Reader = br
	if unpack := compressionOf(head); unpack != nil {
		u, err := unpack(br, w.Limits)
		if err != nil {
			return fmt.Errorf("%w: data.tar: %w", ErrPackage, err)
		}
		defer u.Close()
		in = &counter{u, w}
	}

	// The checksum of a compressed stream is at its end, after that of the tar file.
	err := w.tar(in, prefix, depth)
	if err == nil {
		_, err = io.Copy(io.Discard, in)
	}
	if err == nil {
		_, err = io.Copy(io.Discard, br)
	}
	return err
}
