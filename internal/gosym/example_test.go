package gosym_test

import (
	"debug/elf"
	"fmt"
	"log"
	"os"
	"path"

	"symkit/internal/gosym"
)

// The functions of a Go program, with or without symbols. A program that is
// not position-independent needs no relocations.
func Example() {
	self, err := os.Executable()
	if err != nil {
		log.Fatal(err)
	}
	f, err := elf.Open(self)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	section, text := f.Section(".gopclntab"), f.Section(".text")
	data, err := section.Data()
	if err != nil {
		log.Fatal(err)
	}
	table, err := gosym.Open(section.Name, data, section.Addr, gosym.Image{
		Exec: []gosym.Range{{Lo: text.Addr, Hi: text.Addr + text.Size}},
		Text: text.Addr,
	})
	if err != nil {
		log.Fatal(err)
	}
	for fn, err := range table.Funcs() {
		if err == nil && string(table.Name(fn.Name)) == "runtime.main" {
			for row := range table.Lines(fn) {
				fmt.Println(row.Line >= fn.StartLine, path.Base(string(table.File(row.File))))
				break
			}
		}
	}
	// Output: true proc.go
}
