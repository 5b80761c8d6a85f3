package pkg

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"math/bits"

	"github.com/klauspost/compress/zstd"
	"github.com/mikelolasagasti/xz"
	"github.com/pierrec/lz4/v4"
	"github.com/ulikunitz/xz/lzma"

	"symkit/internal/gunzip"
	"symkit/internal/limitof"
	"symkit/limits"
)

// unpacker returns a reader of the unpacked stream. The limits bound its window.
type unpacker func(r *bufio.Reader, l limits.Limits) (io.ReadCloser, error)

// compressions are the formats of compression, by the bytes that a stream begins with.
var compressions = []struct {
	magic  string
	unpack unpacker
}{
	{"\x1f\x8b\x08", unpackGzip},
	{"BZh", func(r *bufio.Reader, _ limits.Limits) (io.ReadCloser, error) {
		return io.NopCloser(bzip2.NewReader(r)), nil
	}},
	{"\xfd7zXZ\x00", unpackXZ},
	{"\x28\xb5\x2f\xfd", unpackZstd},
	{"\x04\x22\x4d\x18", unpackLZ4},
	{"\x02\x21\x4c\x18", unpackLZ4}, // the older frames, which Linux reads
}

func unpackLZ4(r *bufio.Reader, _ limits.Limits) (io.ReadCloser, error) {
	return io.NopCloser(lz4.NewReader(r)), nil
}

func unpackGzip(r *bufio.Reader, _ limits.Limits) (io.ReadCloser, error) {
	z, err := gunzip.NewReader(r)
	if err != nil {
		return nil, err
	}
	return io.NopCloser(z), nil
}

// Unpack returns a reader of the unpacked content of a stream that is compressed with gzip, bzip2,
// xz, lzma, zstd or lz4; it is nil if the stream is not compressed. The limits bound its window.
func Unpack(r *bufio.Reader, l limits.Limits) (io.ReadCloser, error) {
	head, _ := r.Peek(HeadSize) // a shorter stream has no magic number, or the whole of it
	unpack := compressionOf(head)
	if unpack == nil {
		return nil, nil
	}
	out, err := unpack(r, l)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// compressionOf returns the format of a compressed stream that begins with head, or nil if
// the stream is not compressed.
func compressionOf(head []byte) unpacker {
	for _, c := range compressions {
		if bytes.HasPrefix(head, []byte(c.magic)) {
			return c.unpack
		}
	}

	// Zstd streams of pzstd begin with a skippable frame (RFC 8878 §3.1.2).
	if len(head) >= 4 && binary.LittleEndian.Uint32(head)&^0xf == 0x184d2a50 {
		return unpackZstd
	}
	if isLZMA(head) {
		return unpackLZMA
	}
	return nil
}

// unpackZstd unpacks on the caller's goroutine. A frame that needs a larger window than
// the limit package-window is an error.
func unpackZstd(r *bufio.Reader, l limits.Limits) (io.ReadCloser, error) {
	z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(max(l.Max(limitof.PackageWindow, 0), zstd.MinWindowSize)))
	if err != nil {
		return nil, err
	}
	closer := z.IOReadCloser()
	return struct {
		io.Reader
		io.Closer
	}{windowErrors{closer, l}, closer}, nil
}

// isLZMA reports whether head is a header of the .lzma format, which has no magic
// number: the properties that all encoders write, a dictionary size that is a power of
// two or 1.5 of one, and a size that is unknown or below 256 GiB (as liblzma requires).
func isLZMA(head []byte) bool {
	if len(head) < lzma.HeaderLen || head[0] != 0x5d {
		return false
	}
	dict, size := binary.LittleEndian.Uint32(head[1:]), binary.LittleEndian.Uint64(head[5:])
	power := bits.OnesCount32(dict) == 1 || bits.OnesCount32(dict) == 2 && dict&(dict<<1) != 0
	return power && dict >= 4096 && (size == 1<<64-1 || size < 1<<38)
}

// unpackXZ unpacks one or more .xz streams, with any of the filters for code.
func unpackXZ(r *bufio.Reader, l limits.Limits) (io.ReadCloser, error) {
	z, err := xz.NewReader(r, uint32(min(l.Max(limitof.PackageWindow, 0), math.MaxUint32)))
	if err != nil {
		return nil, windowError(err, l)
	}
	return io.NopCloser(windowErrors{z, l}), nil
}

// windowErrors replaces the error for a window that is too large.
type windowErrors struct {
	r io.Reader
	l limits.Limits
}

func (w windowErrors) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	return n, windowError(err, w.l)
}

func windowError(err error, l limits.Limits) error {
	if errors.Is(err, xz.ErrMemlimit) || errors.Is(err, zstd.ErrWindowSizeExceeded) {
		return l.Exceeded(limitof.PackageWindow, 0)
	}
	return err
}

func unpackLZMA(r *bufio.Reader, l limits.Limits) (io.ReadCloser, error) {
	z, err := lzma.ReaderConfig{DictCap: max(l.Int(limitof.PackageWindow), lzma.MinDictCap)}.NewReader(r)
	if err != nil {
		return nil, err
	}
	return io.NopCloser(z), nil
}
