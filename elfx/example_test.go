package elfx_test

import (
	"fmt"
	"os"

	"symkit/elfx"
)

// A binary is opened, joined with its debug file, and read.
func ExampleOpen() {
	f, err := elfx.Open(os.Args[0])
	if err != nil {
		fmt.Println(err)
		return
	}
	debug, _ := f.FindDebug([]string{elfx.DefaultDebugDir})
	image, err := elfx.Join(f, debug)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer image.Close()
	text, err := image.SectionData(".text")
	fmt.Println(len(text) > 0, err)
	// Output:
	// true <nil>
}
