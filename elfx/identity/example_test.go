package identity_test

import (
	"fmt"

	"symkit/elfx"
	"symkit/elfx/identity"
)

// Example makes the MODULE record of a program.
func Example() {
	f, err := elfx.Open("../../testdata/elf/hello-x86_64-gcc12-O2-dw5.elf")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()

	arch, err := identity.Arch(f)
	if err != nil {
		fmt.Println(err)
		return
	}
	id, err := identity.Of(&elfx.Image{Main: f})
	fmt.Println("MODULE Linux", arch, identity.ModuleID(id, f.BigEndian), "hello", err)
	// Output:
	// MODULE Linux x86_64 672F3E1B0D87F3E5E3697F4C1C0782700 hello <nil>
}
