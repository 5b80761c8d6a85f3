package store_test

import (
	"fmt"
	"io"
	"log"
	"os"

	"symkit/dump/store"
)

func Example() {
	dir, err := os.MkdirTemp("", "store")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	s, err := store.Open(dir, store.Options{Compression: store.Gzip})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	m := store.Module{Names: []string{"libz.so.1"}, ID: "2A54ED33E19F4228D156B68A8DDEC66A0"}
	paths, err := s.Paths(m, store.Symbols)
	if err != nil {
		log.Fatal(err)
	}
	size, err := s.Put(paths, store.Symbols, func(w io.Writer) error {
		_, err := io.WriteString(w, "MODULE Linux x86_64 2A54ED33E19F4228D156B68A8DDEC66A0 libz.so.1\n")
		return err
	})
	fmt.Println(paths[0], size.Text, err)
	// Output: libz.so.1/2A54ED33E19F4228D156B68A8DDEC66A0/libz.so.1.sym.gz 64 <nil>
}
