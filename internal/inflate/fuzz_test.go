package inflate

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"symkit/located"
)

// FuzzInflate: whatever the bytes, Zlib and compress/zlib accept the same
// streams with the same output, and an error has a place in them. With the
// loops in Go it is the same error or output. Nothing is written behind the
// output. The checksum is mended first, or hardly any mutation would be
// accepted.
func FuzzInflate(f *testing.F) {
	for _, level := range []int{-2, 0, 1, 6, 9} {
		f.Add(deflate(f, sample(3000), level), uint16(3000))
		f.Add(deflate(f, sample(50), level), uint16(50))
	}
	f.Add(new(bitWriter).dynamic(258, 1).zeros(97).lengths(1).zeros(158).lengths(2, 2, 1).
		code(0, 1).code(3, 2).code(0, 1).code(2, 2).zlib([]byte("aaaa")), uint16(4))
	f.Add(new(bitWriter).dynamic(257, 1).zeros(256).lengths(1, 0).code(0, 1).zlib(nil), uint16(0))
	f.Fuzz(func(t *testing.T, src []byte, size uint16) {
		behind := bytes.Repeat([]byte{0xa5}, 300)
		all := append(make([]byte, size), behind...)
		dst := all[:size:size]
		err := Zlib(dst, src, nil)
		if e, ok := errors.AsType[*located.Error](err); ok && errors.Is(err, ErrChecksum) {
			sum := adler32sum(1, dst)
			src = append(bytes.Clone(src[:e.Offset]), byte(sum>>24), byte(sum>>16), byte(sum>>8), byte(sum))
			err = Zlib(dst, src, nil)
		}
		again := make([]byte, size)
		goErr := error(nil)
		withGoLoops(func() { goErr = Zlib(again, src, nil) })
		if fmt.Sprint(goErr) != fmt.Sprint(err) || err == nil && !bytes.Equal(again, dst) {
			t.Fatalf("%v; with the loops in Go: %v", err, goErr)
		}
		if !bytes.Equal(all[size:], behind) {
			t.Fatal("written behind the output")
		}
		plain, peerErr := peer(src, int(size))
		if (err == nil) != (peerErr == nil) {
			t.Fatalf("%v; compress/zlib: %v", err, peerErr)
		}
		if err == nil {
			if !bytes.Equal(dst, plain) {
				t.Fatal("not what compress/zlib inflates")
			}
			return
		}
		if e, ok := errors.AsType[*located.Error](err); !ok || e.Offset < 0 || e.Offset > len(src) {
			t.Fatalf("error without a place: %v", err)
		}
	})
}

// FuzzRoundTrip: what compress/zlib deflates at any level comes back, and
// nothing of it is accepted as a longer or shorter one.
func FuzzRoundTrip(f *testing.F) {
	f.Add(sample(2000), uint8(6), uint8(3))
	f.Add([]byte{}, uint8(0), uint8(0))
	f.Fuzz(func(t *testing.T, plain []byte, level, times uint8) {
		plain = bytes.Repeat(plain, 1+int(times%8))
		src := deflate(t, plain, int(level%12)-2)
		dst := make([]byte, len(plain)+1)
		if err := Zlib(dst[:len(plain)], src, nil); err != nil || !bytes.Equal(dst[:len(plain)], plain) {
			t.Fatalf("%d bytes: %v", len(plain), err)
		}
		if err := Zlib(dst, src, nil); !errors.Is(err, ErrTooShort) {
			t.Fatalf("one byte more: %v", err)
		}
		if len(plain) > 0 {
			if err := Zlib(dst[:len(plain)-1], src, nil); !errors.Is(err, ErrTooLong) {
				t.Fatalf("one byte less: %v", err)
			}
		}
	})
}
