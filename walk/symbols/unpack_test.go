package symbols

import (
	"bytes"
	"errors"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"symkit/limits"
)

// TestUnpackPadding: zero bytes after gzip data are padding.
func TestUnpackPadding(t *testing.T) {
	var zipped bytes.Buffer
	g := gzip.NewWriter(&zipped)
	_, err := g.Write([]byte("MODULE\n"))
	if err := errors.Join(err, g.Close()); err != nil {
		t.Fatal(err)
	}
	padded := append(bytes.Clone(zipped.Bytes()), make([]byte, 512)...)
	out, err := unpack(padded, Packing(padded), limits.Limits{})
	if string(out) != "MODULE\n" || err != nil {
		t.Errorf("%q, %v", out, err)
	}
	out, err = unpack(append(padded, 'x'), "gzip", limits.Limits{})
	if err == nil {
		t.Errorf("%q after damage", out)
	}
}

// A packed symbol file in a store that is hundreds of megabytes of one byte is not
// unpacked into memory.
func TestUnpackBomb(t *testing.T) {
	zeros := make([]byte, 1<<20)
	var zipped, zstded bytes.Buffer
	g, err := gzip.NewWriterLevel(&zipped, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	z, err := zstd.NewWriter(&zstded)
	if err != nil {
		t.Fatal(err)
	}
	for range 200 {
		if _, err := g.Write(zeros); err != nil {
			t.Fatal(err)
		}
		if _, err := z.Write(zeros); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(g.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	for how, data := range map[string][]byte{"gzip": zipped.Bytes(), "zstd": zstded.Bytes()} {
		if out, err := unpack(data, how, limits.Limits{}); !errors.Is(err, limits.ErrExceeded) || out != nil {
			t.Errorf("%s: %d bytes of %d, %v", how, len(out), len(data), err)
		}
	}
}
