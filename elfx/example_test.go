package elfx_test

import (
	"fmt"

	"symkit/elfx"
)

// Example opens a program: its build id, a section, its symbols.
func Example() {
	f, err := elfx.Open("../testdata/elf/hello-x86_64-gcc12-O2-dw5.elf")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()

	fmt.Printf("%v, build id %x\n", f.Machine, f.BuildID())
	text, err := f.SectionData(".text")
	fmt.Printf(".text at %#x, %d bytes, %v\n", f.Section(".text").Addr, len(text), err)

	table, err := f.Symtab()
	if err != nil || table == nil {
		fmt.Println("no symbols:", err)
		return
	}
	for i := range table.Symbols {
		s := &table.Symbols[i]
		if string(table.NameOf(s)) == "main" {
			fmt.Printf("main at %#x, %d bytes\n", s.Value, s.Size)
		}
	}
	// Output:
	// EM_X86_64, build id 1b3e2f67870de5f3e3697f4c1c078270607ba081
	// .text at 0x1050, 265 bytes, <nil>
	// main at 0x1050, 30 bytes
}
