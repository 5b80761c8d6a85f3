package squashfs_test

import (
	"fmt"
	"os"
	"strings"

	"symkit/elfx/archive/internal/squashfs"
)

// The libraries of an image.
func ExampleImage_Walk() {
	file, err := os.Open("testdata/zstd.squashfs")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer file.Close()

	image, err := squashfs.Open(file, squashfs.Options{})
	if err == nil {
		err = image.Walk(squashfs.Visitor{File: func(f *squashfs.File) error {
			if strings.HasSuffix(f.Name, ".so") {
				fmt.Println(f.Name, f.Size)
			}
			return nil
		}})
	}
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// usr/lib/libapp.so 18004
	// usr/lib/whole.so 8192
}
