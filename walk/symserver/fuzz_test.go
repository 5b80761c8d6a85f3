package symserver

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// FuzzUnpack: a body, packed up to twice, ends, and gives no more than is
// allowed; what is not packed comes as it is.
func FuzzUnpack(f *testing.F) {
	plain := []byte("MODULE Linux x86_64 0123 a\nFUNC 10 1 0 f\n")
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(plain); err != nil {
		f.Fatal(err)
	}
	if err := z.Close(); err != nil {
		f.Fatal(err)
	}
	e, err := zstd.NewWriter(nil)
	if err != nil {
		f.Fatal(err)
	}
	for _, body := range [][]byte{plain, packed.Bytes(), e.EncodeAll(plain, nil), e.EncodeAll(packed.Bytes(), nil), nil, {0x1f, 0x8b}} {
		f.Add(body)
	}
	const most = 1 << 16
	f.Fuzz(func(t *testing.T, body []byte) {
		r, done, err := unpack(bufio.NewReader(bytes.NewReader(body)))
		defer done()
		if err != nil {
			return
		}
		var text bytes.Buffer
		err = write(&text, r, "", most)
		want := string(body)
		if !strings.HasSuffix(want, "\n") {
			want += "\n"
		}
		want += sourceMark + "\n"
		if text.Len() > most+len("\n"+sourceMark+"\n") {
			t.Fatalf("%d bytes", text.Len())
		}
		isPacked := bytes.HasPrefix(body, []byte{0x1f, 0x8b}) || bytes.HasPrefix(body, []byte{0x28, 0xb5, 0x2f, 0xfd})
		if !isPacked && len(body) <= most && (err != nil || text.String() != want) {
			t.Fatalf("%q became %q, %v", body, text.String(), err)
		}
	})
}
