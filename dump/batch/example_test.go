package batch_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"symkit/dump/batch"
	"symkit/dump/store"
)

// Example dumps the programs below a directory into a store.
func Example() {
	dir, err := os.MkdirTemp("", "store")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	symbols, err := store.Open(dir, store.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer symbols.Close()

	finder := batch.Finder{}
	err = finder.Add(context.Background(), "../../testdata/elf/hello-x86_64-gcc12-O2-dw5.elf")
	if err != nil {
		log.Fatal(err)
	}
	for result, err := range batch.Dump(context.Background(), &finder, symbols, batch.Options{}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(result.Record.Status, result.Record.Counts.Funcs)
	}
	// Output:
	// written 1
}
