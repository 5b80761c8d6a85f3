package check_test

import (
	"context"
	"fmt"

	"symkit/check"
	"symkit/check/report"
	"symkit/elfx/companion"
)

// Example verifies a symbol file that has wrong line numbers against the program.
func Example() {
	const sym = `MODULE Linux x86_64 672F3E1B0D87F3E5E3697F4C1C0782700 hello
FILE 0 /home/me/hello.c
FUNC 1050 1e 0 main
1050 7 6 0
1057 10 99 0
1067 7 9 0
`
	program, _, err := companion.Open(context.Background(), []string{"../testdata/elf/hello-x86_64-gcc12-O2-dw5.elf"}, companion.Search{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer program.Close()

	found, err := check.File(context.Background(), program.Image, []byte(sym), check.Options{
		Names: []string{"hello"}, Options: report.Options{Only: []string{"lines"}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range found.Findings {
		fmt.Printf("line %d: %s\n", f.Line, f.What)
	}
	// Output:
	// line 4: [0x1050, 0x1053): the line table says /home/me/hello.c:3
	// line 5: [0x1057, 0x105b): the line table says /home/me/hello.c:7
	// line 5: [0x105b, 0x1067): the line table says /home/me/hello.c:7
}
