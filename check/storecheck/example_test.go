package storecheck_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"symkit/check/storecheck"
)

func ExampleCheck() {
	dir, err := os.MkdirTemp("", "store")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	place := filepath.Join(dir, "app", "0123456789ABCDEF0123456789ABCDEF0")
	err = os.MkdirAll(place, 0o777)
	if err != nil {
		log.Fatal(err)
	}
	text := "MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF0 app\nFUNC 1000 20 0 main\nFUNC 1010 20 0 f\n"
	err = os.WriteFile(filepath.Join(place, "app.sym"), []byte(text), 0o666)
	if err != nil {
		log.Fatal(err)
	}

	for r, err := range storecheck.Check(context.Background(), dir, storecheck.Options{}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(filepath.Base(r.File), r.Report.Total(), r.Report.Findings[0])
	}
	// Output: app.sym 1 3: FUNC 1010 20 0 f: begins inside the FUNC of line 2, [0x1000, 0x1020)
}
