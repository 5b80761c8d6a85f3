package lint_test

import (
	"fmt"
	"log"

	"symkit/check/lint"
	"symkit/check/report"
)

func ExampleFile() {
	sym := "MODULE Linux x86_64 0123456789ABCDEF0 app\nFUNC 1000 20 0 main\nFUNC 1010 20 0 f\n"
	rep, err := lint.File([]byte(sym), report.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range rep.Findings {
		fmt.Printf("app.sym:%s [%s]\n", f, f.Check)
	}
	// Output:
	// app.sym:3: FUNC 1010 20 0 f: begins inside the FUNC of line 2, [0x1000, 0x1020) [overlaps]
}
