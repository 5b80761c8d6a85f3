// Package gunzip reads gzip data as gzip(1) does: one stream after the other, with zero bytes
// after a stream as padding, as tapes, initramfs images and block devices leave it.
package gunzip

import (
	"bufio"
	"io"

	"github.com/klauspost/compress/gzip"
)

// Reader reads the unpacked content of gzip data.
type Reader struct {
	z *gzip.Reader
	r *bufio.Reader
}

// NewReader reads the header of the first stream.
func NewReader(r io.Reader) (*Reader, error) {
	br, ok := r.(*bufio.Reader)
	if !ok {
		br = bufio.NewReader(r)
	}
	z, err := gzip.NewReader(br)
	if err != nil {
		return nil, err
	}
	z.Multistream(false)
	return &Reader{z, br}, nil
}

// Read implements io.Reader. Bytes after a stream that are neither zero nor another stream are an error.
func (g *Reader) Read(p []byte) (int, error) {
	for {
		n, err := g.z.Read(p)
		switch {
		case err != io.EOF:
			return n, err
		case n > 0:
			return n, nil // the end of this stream is read again
		}

		err = g.next()
		if err != nil {
			return 0, err
		}
	}
}

// next reads the header of the next stream. It returns io.EOF if there is none.
func (g *Reader) next() error {
	err := SkipZeros(g.r)
	if err != nil {
		return err
	}
	err = g.z.Reset(g.r)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if err == nil {
		g.z.Multistream(false)
	}
	return err
}

// SkipZeros skips zero bytes. At the end of r it returns io.EOF.
func SkipZeros(r *bufio.Reader) error {
	for {
		b, err := r.ReadByte()
		if err != nil {
			return err
		}
		if b != 0 {
			return r.UnreadByte()
		}
	}
}
