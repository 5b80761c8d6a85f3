package check_test

import (
	"fmt"
	"log"
	"os"

	"symkit/check"
)

func ExampleLint() {
	sym := "MODULE Linux x86_64 0123456789ABCDEF0 app\nFUNC 1000 20 0 main\nFUNC 1010 20 0 f\n"
	rep, err := check.Lint([]byte(sym), check.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range rep.Findings {
		fmt.Printf("app.sym:%s [%s]\n", f, f.Check)
	}
	// Output:
	// app.sym:3: FUNC 1010 20 0 f: begins inside the FUNC of line 2, [0x1000, 0x1020) [overlaps]
}

func ExampleDiff() {
	old := "MODULE Linux x86_64 0123456789ABCDEF0 app\nFUNC 1000 20 0 main\n"
	now := "MODULE Linux x86_64 0123456789ABCDEF0 app\nFUNC 1000 18 0 main\n"
	rep, err := check.Diff([]byte(old), []byte(now), check.Options{Only: []string{check.CheckFuncs}})
	if err != nil {
		log.Fatal(err)
	}
	if err := rep.WriteText(os.Stdout, "old.sym"); err != nil {
		log.Fatal(err)
	}
	// Output:
	//     check  compared  wrong  missing  not verified  findings
	//   functions        32      8        0             0         1  PCs
	// old.sym:2: FUNC 1000 20 0 main: [0x1018, 0x1020): nothing in the other file [functions]
}
