package upload

import (
	"crypto/md5"
	"encoding/hex"
	"errors"
	"hash"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/gzip"

	"symkit/internal/download"
	"symkit/internal/spool"
)

// packed is a file that is kept with gzip, as Tecken wants it, with the size and the sums of the file before.
type packed struct {
	spool.Spool
	text int64 // bytes before compression
	size int64 // of the file that counts for the server: text, or with whole that of the gzip data
	md5  hash.Hash
	crc  hash.Hash32
	// whole states that the gzip data is the file itself, whose name ends in .gz.
	whole bool
}

// fill takes the file that write writes.
func (p *packed) fill(write func(io.Writer) error) error {
	p.md5, p.crc = md5.New(), crc32.NewIEEE()
	summed := io.MultiWriter(p.md5, p.crc, counter{&p.size})
	out := io.Writer(&p.Spool)
	if p.whole {
		out = io.MultiWriter(out, summed)
		summed = io.Discard
	}
	z := gzip.NewWriter(out)
	err := write(io.MultiWriter(z, summed, counter{&p.text}))
	return errors.Join(err, z.Close())
}

// sum returns the MD5 in lower-case digits.
func (p *packed) sum() string { return hex.EncodeToString(p.md5.Sum(nil)) }

// The sizes of gzip's header without a name, and of its trailer (RFC 1952 §2.3).
const gzipHeader, gzipTrailer = 10, 8

// deflated returns the data without gzip's header and trailer, as members of zip files have it.
func (p *packed) deflated() download.Content {
	return p.Section(gzipHeader, p.Size()-gzipHeader-gzipTrailer)
}

// counter counts the bytes written to it.
type counter struct{ n *int64 }

func (c counter) Write(p []byte) (int, error) {
	*c.n += int64(len(p))
	return len(p), nil
}
