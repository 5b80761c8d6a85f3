package symbols

import (
	"bytes"
	"io"
	"math"

	"github.com/klauspost/compress/zstd"

	"symkit/internal/gunzip"
	"symkit/limits"
)

// maxWindow bounds the memory that a zstd frame may ask for.
const maxWindow = 128 << 20

// Packing returns how a symbol file is packed, by its first bytes: "gzip", "zstd",
// or "" for not at all.
func Packing(data []byte) string {
	switch {
	case bytes.HasPrefix(data, []byte{0x1f, 0x8b}):
		return "gzip"
	case bytes.HasPrefix(data, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		return "zstd"
	}
	return ""
}

// Unpacker returns a reader of the unpacked content of r, which is packed as Packing
// has found. The caller calls done after reading.
func Unpacker(r io.Reader, how string) (out io.Reader, done func(), err error) {
	switch how {
	case "gzip":
		out, err = gunzip.NewReader(r)
	case "zstd":
		var d *zstd.Decoder
		d, err = zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
		if err == nil {
			return d, d.Close, nil
		}
	default:
		out = r
	}
	return out, func() {}, err
}

// unpack unpacks a symbol file into memory.
func unpack(data []byte, how string, lim limits.Limits) ([]byte, error) {
	r, done, err := Unpacker(bytes.NewReader(data), how)
	if err != nil {
		return nil, err
	}
	defer done()
	var out bytes.Buffer
	// The limit bounds the memory of a packed file that expands enormously.
	size := uint64(len(data))
	most := int64(min(lim.Max(limits.UnpackedSymbols, size), math.MaxInt64-1))
	n, err := io.Copy(&out, io.LimitReader(r, most+1))
	if n > most {
		return nil, lim.Exceeded(limits.UnpackedSymbols, size)
	}
	return out.Bytes(), err
}
