package pkg

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"symkit/internal/limitof"
	"symkit/limits"
	"symkit/located"
	"symkit/test/pkgtest"
)

// squashed returns an image of package squashfs's testdata.
func squashed(t testing.TB, how string) []byte {
	t.Helper()
	data, err := os.ReadFile("../internal/squashfs/testdata/" + how + ".squashfs")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// inSquashfs is what the images have.
var inSquashfs = []string{
	`usr/bin/app "app" 7`, `usr/lib/deep/also -> usr/bin/app`, `usr/lib/libapp.so "library\nli" 18004`, `usr/lib/whole.so "whole\nwhol" 8192`,
}

// appImaged returns an AppImage: an ELF file whose section headers, and whose last section, end somewhere,
// and an image.
func appImaged(class32 bool, order binary.AppendByteOrder, sections int, image []byte) []byte {
	head := make([]byte, 64)
	copy(head, "\x7fELF\x02\x01\x01\x00AI\x02")
	if order == binary.AppendByteOrder(binary.BigEndian) {
		head[5] = 2
	}
	put16 := func(at, value int) { copy(head[at:], order.AppendUint16(nil, uint16(value))) }
	section := make([]byte, 64)
	if class32 {
		head[4] = 1
		copy(head[0x20:], order.AppendUint32(nil, 64))
		put16(0x2e, 40)
		put16(0x30, 1)
		section = section[:40]
		copy(section[16:], order.AppendUint32(order.AppendUint32(nil, 104), uint32(sections)))
	} else {
		copy(head[0x28:], order.AppendUint64(nil, 64))
		put16(0x3a, 64)
		put16(0x3c, 1)
		copy(section[24:], order.AppendUint64(order.AppendUint64(nil, 128), uint64(sections)))
	}
	return slices.Concat(head, section, make([]byte, sections), image)
}

// TestSquashfs: images by themselves, compressed, in AppImages, as a file and as a stream.
func TestSquashfs(t *testing.T) {
	dir := t.TempDir() // of temporary files, which vanish
	t.Setenv("TMPDIR", dir)
	t.Setenv("TMP", dir)
	zstd := squashed(t, "zstd")
	for name, test := range map[string]struct {
		data []byte
		elf  string // of an AppImage
	}{
		"gzip": {squashed(t, "gzip"), ""}, "xz": {squashed(t, "xz"), ""}, "lz4": {squashed(t, "lz4"), ""}, "zstd": {zstd, ""},
		"compressed":      {pkgtest.Compress("gzip", zstd), ""},
		"AppImage":        {appImaged(false, binary.LittleEndian, 0, zstd), ` "\x02\x01\x01\x00AI\x02\x00\x00\x00" 128`},
		"AppImage of 32":  {appImaged(true, binary.LittleEndian, 500, zstd), ` "\x01\x01\x01\x00AI\x02\x00\x00\x00" 604`},
		"AppImage, s390x": {appImaged(false, binary.BigEndian, 8, zstd), ` "\x02\x02\x01\x00AI\x02\x00\x00\x00" 136`},
	} {
		want := inSquashfs
		if test.elf != "" {
			want = append([]string{test.elf}, want...)
		}
		for _, streamed := range []bool{false, true} {
			got, err := seenImage(test.data, streamed, limits.Limits{})
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%s: %q, %v", name, got, err)
			}
		}
		whole := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(test.data)), nil }
		head := test.data[:HeadSize]
		if !Is(head, whole, limits.Limits{}) || IsImage(head) != (name != "compressed") {
			t.Errorf("%s: not a package", name)
		}
	}

	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
}

// seenImage are the results of Walk for data that can be read at any place unless streamed is set.
func seenImage(data []byte, streamed bool, l limits.Limits) (lines []string, err error) {
	v := visitor(&lines)
	v.Limits = l
	if !streamed {
		v.At = bytes.NewReader(data)
	}
	err = Walk(bytes.NewReader(data), int64(len(data)), v)
	return lines, err
}

// TestSquashfsLimits: the limits of packages hold for images.
func TestSquashfsLimits(t *testing.T) {
	data := squashed(t, "xz")
	for limit, value := range map[string]uint64{limitof.Package: 20 << 10, limitof.Members: 6} {
		_, err := seenImage(data, false, limits.Limits{}.With(limit, value))
		if !errors.Is(err, limits.ErrExceeded) || !strings.Contains(err.Error(), limit) {
			t.Errorf("%v: %v", limit, err)
		}
	}
}

// TestSquashfsDamage: damage costs the file that it is in; images and AppImages that cannot be read are
// errors.
func TestSquashfsDamage(t *testing.T) {
	data := squashed(t, "gzip")
	data[100] ^= 0xff // the first block of the library
	got, err := seenImage(data, false, limits.Limits{})
	const lost = "usr/lib/libapp.so: damaged package: squashfs+0x60: damaged squashfs image: "
	if err != nil || len(got) != 4 || !strings.HasPrefix(got[2], lost) || !slices.Equal(slices.Delete(slices.Clone(got), 2, 3), slices.Delete(slices.Clone(inSquashfs), 2, 3)) {
		t.Errorf("%q, %v", got, err)
	}

	whole := squashed(t, "zstd")
	app := appImaged(false, binary.LittleEndian, 0, whole)
	noEnd := bytes.Clone(app)
	noEnd[0x3c] = 0 // no sections
	for name, test := range map[string]struct {
		data []byte
		want error
	}{
		"cut": {whole[:200], located.ErrTruncated}, "short": {whole[:20], located.ErrTruncated}, "LZO": {squashed(t, "lzo"), errUnread},
		"AppImage of 40 bytes": {app[:40], io.ErrUnexpectedEOF}, "without an end": {noEnd, ErrPackage}, "nothing after it": {app[:128], errUnread},
		"another image": {appImaged(false, binary.LittleEndian, 0, []byte("DWARFS\x02\x05")), errUnread},
	} {
		for _, streamed := range []bool{false, true} {
			_, err := seenImage(test.data, streamed, limits.Limits{})
			if !errors.Is(err, test.want) || !errors.Is(err, ErrPackage) && !errors.Is(err, errUnread) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
