// Package packing reads files that may be packed by gzip or zstd, which their first bytes tell.
//
//	start, _ := r.Peek(packing.MagicSize) // r is a *bufio.Reader
//	text, done, err := packing.NewReader(r, packing.Of(start))
//	if err != nil {
//		return err
//	}
//	defer done()
package packing

import (
	"bytes"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"

	"symkit/internal/gunzip"
)

// How is how a file is packed. HTTP's Content-Encoding has the same names.
type How string

// How files are packed.
const (
	None How = ""
	Gzip How = "gzip" // RFC 1952
	Zstd How = "zstd" // RFC 8878
)

// MagicSize is how many bytes of a file Of needs.
const MagicSize = 4

// Of returns how the file is packed that begins with start.
func Of(start []byte) How {
	switch {
	case bytes.HasPrefix(start, []byte{0x1f, 0x8b}):
		return Gzip
	case bytes.HasPrefix(start, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		return Zstd
	}
	return None
}

// maxWindow bounds the memory that a zstd frame may ask for, in bytes.
const maxWindow = 128 << 20

// NewReader returns a reader of the unpacked content of r, whose error is that of the header or of an unknown How. The caller calls done
// after reading. A reader of gzip data may read more of r than the data.
func NewReader(r io.Reader, how How) (text io.Reader, done func(), err error) {
	switch how {
	case Gzip:
		z, err := gunzip.NewReader(r)
		return z, func() {}, err
	case Zstd:
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, nil, err
		}
		return z, z.Close, nil
	case None:
		return r, func() {}, nil
	}
	return nil, nil, fmt.Errorf("packed by %q, which is not known here", string(how))
}
