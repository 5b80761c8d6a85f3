package diff_test

import (
	"log"
	"os"

	"symkit/check/diff"
	"symkit/check/report"
)

func ExampleFiles() {
	old := "MODULE Linux x86_64 0123456789ABCDEF0 app\nFUNC 1000 20 0 main\n"
	now := "MODULE Linux x86_64 0123456789ABCDEF0 app\nFUNC 1000 18 0 main\n"
	rep, err := diff.Files([]byte(old), []byte(now), report.Options{Only: []string{"functions"}})
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
