package packing

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

func Example() {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	io.WriteString(z, "MODULE Linux x86_64 0 app\n")
	z.Close()

	how := Of(packed.Bytes())
	text, done, err := NewReader(&packed, how)
	if err != nil {
		panic(err)
	}
	defer done()
	all, err := io.ReadAll(text)
	fmt.Printf("%s: %s%v\n", how, all, err)
	// Output: gzip: MODULE Linux x86_64 0 app
	// <nil>
}

// TestKinds: each kind comes back; what is cut is an error, and no text.
func TestKinds(t *testing.T) {
	const want = "MODULE Linux x86_64 0 app\n"
	var gz bytes.Buffer
	z := gzip.NewWriter(&gz)
	io.WriteString(z, want)
	z.Close()
	e, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	for how, data := range map[How]string{None: want, Gzip: gz.String(), Zstd: string(e.EncodeAll([]byte(want), nil))} {
		if got := Of([]byte(data[:MagicSize])); got != how {
			t.Errorf("%q: Of: %q", how, got)
		}
		for _, cut := range []int{0, 1} {
			text, done, err := NewReader(strings.NewReader(data[:len(data)-cut]), how)
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(text)
			done()
			if (err != nil) != (cut > 0 && how != None) || cut == 0 && string(got) != want {
				t.Errorf("%q without %d bytes: %q, %v", how, cut, got, err)
			}
		}
	}
	_, _, err = NewReader(strings.NewReader(want), "br")
	if err == nil {
		t.Error("an unknown kind")
	}
	if Of(nil) != None || Of([]byte{0x1f}) != None {
		t.Error("of short starts")
	}
}
