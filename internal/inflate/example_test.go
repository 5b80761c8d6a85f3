package inflate_test

import (
	"bytes"
	"compress/zlib"
	"fmt"

	"symkit/internal/inflate"
)

func ExampleZlib() {
	var section bytes.Buffer
	w := zlib.NewWriter(&section)
	w.Write([]byte("a section, a section, a section"))
	w.Close()

	dst := make([]byte, 31) // ch_size of the section's compression header
	fmt.Println(inflate.Zlib(dst, section.Bytes(), nil), string(dst))
	fmt.Println(inflate.Zlib(dst, section.Bytes()[:9], nil))
	// Output:
	// <nil> a section, a section, a section
	// zlib stream+0x9: truncated
}
