package dump_test

import (
	"context"
	"fmt"
	"os"

	"symkit/dump"
	"symkit/elfx/companion"
)

// Example opens a program with its debug file and all else that belongs to it, lists
// its functions, and writes the symbol file.
func Example() {
	program, _, err := companion.Open(context.Background(), []string{"../testdata/elf/hello-x86_64-gcc12-O2-dw5.elf"}, companion.Search{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer program.Close()

	m, err := dump.Dump(context.Background(), program.Image, dump.Options{
		Name: "hello", Inlines: true, NoCFI: true, Companions: program.Companions,
	})
	if err != nil {
		fmt.Println(err)
		return
	}

	for f := range m.Funcs() {
		fmt.Printf("%s at %#x, %d bytes\n", f.Name, f.Addr, f.Size)
		for l := range f.Lines() {
			fmt.Printf("  %#x: line %d of %s\n", l.Addr, l.Line, m.Files()[l.File])
		}
	}

	out, err := os.CreateTemp("", "*.sym")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.Remove(out.Name())
	fmt.Println(m.Write(out), out.Close())
	// Output:
	// main at 0x1050, 30 bytes
	//   0x1050: line 3 of /home/me/hello.c
	//   0x1053: line 6 of /home/me/hello.c
	//   0x1057: line 7 of /home/me/hello.c
	//   0x1067: line 9 of /home/me/hello.c
	// <nil> <nil>
}
