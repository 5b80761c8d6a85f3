package single_test

import (
	"context"
	"fmt"
	"io"
	"log"

	"symkit/dump/single"
	"symkit/elfx"
	"symkit/elfx/companion"
)

// Example dumps a program and verifies the text.
func Example() {
	f, err := elfx.Open("../../testdata/elf/hello-x86_64-gcc12-O2-dw5.elf")
	if err != nil {
		log.Fatal(err)
	}
	m, err := single.Join([]*elfx.File{f}, &companion.Places{})
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
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
