package store

import (
	"errors"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Compression is how symbol files are compressed. The compressed bytes depend
// on the content alone.
type Compression uint8

// The formats of compression.
const (
	None Compression = iota
	Gzip             // RFC 1952; the file's name ends in .gz
	Zstd             // RFC 8878; the file's name ends in .zst
)

var suffixes = []string{"", ".gz", ".zst"}

// maxSuffix is the length of the longest of the suffixes.
const maxSuffix = len(".zst")

// suffix returns what the compression adds to the names of files of a kind. symbolicator recognises compression by the
// content, not by the name.
func (o Options) suffix(kind Kind) string {
	if o.Layout != Unified && kind <= GSYM {
		return suffixes[o.Compression]
	}
	return ""
}

// compression returns how files of a kind are compressed.
func (o Options) compression(kind Kind) Compression {
	if kind <= GSYM || o.Layout == Unified && kind != Sources { // a bundle is packed
		return o.Compression
	}
	return None
}

// compress calls write with a writer that compresses to w.
func (c Compression) compress(w io.Writer, write func(io.Writer) error) error {
	switch c {
	case Gzip:
		z := gzip.NewWriter(w)
		return errors.Join(write(z), z.Close())
	case Zstd:
		// More goroutines would cut the text into other blocks.
		z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
		if err != nil {
			return err
		}
		return errors.Join(write(z), z.Close())
	}
	return write(w)
}
