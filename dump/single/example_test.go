package single_test

import (
	"context"
	"fmt"
	"io"
	"log"

	"symkit/dump/single"
	"symkit/elfx/companion"
)

// Example dumps a program and verifies the text.
func Example() {
	opened, warnings, err := companion.Open(context.Background(), []string{"../../testdata/elf/hello-x86_64-gcc12-O2-dw5.elf"}, companion.Search{})
	if err != nil {
		log.Fatal(err)
	}
	defer opened.Close()
	m := single.New(opened, warnings)
	opt := single.Options{Check: true}
	d, err := m.Dump(context.Background(), opt)
	if err != nil {
		log.Fatal(err)
	}
	rep, err := m.Write(context.Background(), d, opt, func(write func(io.Writer) error) error { return write(io.Discard) })
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(d.Stats.Funcs, "functions,", rep.Total(), "findings")
	// Output:
	// 1 functions, 0 findings
}
