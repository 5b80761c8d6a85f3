package elfsyms_test

import (
	"context"
	"fmt"

	"symkit/test/testfile"
	"symkit/walk"
	"symkit/walk/corefile"
	"symkit/walk/symbols/elfsyms"
	"symkit/walk/symbols/sources"
)

// Example walks the crashed thread of a core file with the symbols of the program
// itself.
func Example() {
	data, err := testfile.Read("../../../testdata/elf/crash-x86_64-gcc12-O2-dw5.core.xz")
	if err != nil {
		fmt.Println(err)
		return
	}

	files := &sources.Files{Exe: "../../../testdata/elf/crash-x86_64-gcc12-O2-dw5.elf"}
	defer files.Close()
	core, err := corefile.New("core", data, corefile.Options{Files: files})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer core.Close()

	result, err := walk.Walk(context.Background(), core.Process, &elfsyms.Supplier{Files: files}, walk.Options{MaxFrames: 3})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range result.Stacks[result.Crashed()].Frames {
		fmt.Printf("%s, line %d (%s)\n", f.Place.Func, f.Place.Line, f.Trust)
	}
	// Output:
	// handler, line 21 (given as instruction pointer in context)
	// restore, line 0 (call frame info)
	// crash, line 68 (registers saved in the signal frame)
}
