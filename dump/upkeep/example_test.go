package upkeep_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"symkit/dump/upkeep"
)

func Example() {
	dir, err := os.MkdirTemp("", "store")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	place := filepath.Join(dir, "libz.so.1", "2A54ED33E19F4228D156B68A8DDEC66A0")
	file := filepath.Join(place, "libz.so.1.sym")
	old := time.Now().Add(-100 * 24 * time.Hour)
	err = os.MkdirAll(place, 0o777)
	if err == nil {
		err = os.WriteFile(file, []byte("MODULE Linux x86_64 2A54ED33E19F4228D156B68A8DDEC66A0 libz.so.1\n"), 0o666)
	}
	if err == nil {
		err = os.Chtimes(file, old, old)
	}
	if err != nil {
		log.Fatal(err)
	}

	ctx := context.Background()
	s, err := upkeep.Open(ctx, dir)
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	plan, err := s.Old(ctx, upkeep.Rule{Days: 90})
	if err != nil {
		log.Fatal(err)
	}
	for m, err := range s.Remove(ctx, plan) {
		fmt.Println(m.Name, m.Bytes, m.Outcome, err)
	}
	// Output: libz.so.1 64 removed <nil>
}
