package sources

import (
	"bytes"
	"errors"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"symkit/internal/packing"
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
	out, err := unpack(padded, packing.Of(padded), limits.Limits{})
	if err != nil || string(out.text) != "MODULE\n" {
		t.Fatalf("%v, %v", out, err)
	}
	out.close()
	out, err = unpack(append(padded, 'x'), "gzip", limits.Limits{})
	if err == nil {
		t.Errorf("%q after damage", out.text)
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
	for how, data := range map[packing.How][]byte{"gzip": zipped.Bytes(), "zstd": zstded.Bytes()} {
		if out, err := unpack(data, how, limits.Limits{}); !errors.Is(err, limits.ErrExceeded) || out != nil {
			t.Errorf("%s, %d bytes: %v, %v", how, len(data), out, err)
		}
	}
}

// TestUnpackTogether: what packed symbol files take beyond their own allowances is bounded for all of
// them together, and given back when a file is closed. The index counts.
func TestUnpackTogether(t *testing.T) {
	var packed bytes.Buffer
	g := gzip.NewWriter(&packed)
	_, err := g.Write(bytes.Repeat([]byte("FILE 1 f\n"), 1<<20)) // 9 MiB, and 16 of the index
	if err := errors.Join(err, g.Close()); err != nil {
		t.Fatal(err)
	}

	var open []*unpacked
	for range 3 {
		u, err := unpack(packed.Bytes(), "gzip", limits.Limits{})
		if err != nil {
			break
		}
		if _, err := u.index(); err != nil {
			u.close()
			break
		}
		open = append(open, u)
	}
	if len(open) != 2 {
		t.Errorf("%d files of 25 MiB are open, want 2 in 64 MiB", len(open))
	}
	for _, u := range open {
		u.close()
	}
	if n := shared.Load(); n != 0 {
		t.Errorf("%d bytes are counted after all files were closed", n)
	}
}
