package elfx_test

import (
	"fmt"
	"os"

	"symkit/elfx"
)

// A program is opened and one of its sections is read.
func ExampleOpen() {
	f, err := elfx.Open(os.Args[0])
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	text, err := f.SectionData(".text")
	fmt.Println(len(text) > 0, err)
	// Output:
	// true <nil>
}
