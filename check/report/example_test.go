package report_test

import (
	"fmt"
	"os"

	"symkit/check/lint"
	"symkit/check/report"
)

// Example writes the report on a symbol file, with a requirement that the file does not
// meet.
func Example() {
	sym := "MODULE Linux x86_64 0123456789ABCDEF0 app\nFILE 0 main.c\nFUNC 1000 20 0 main\n1000 20 3 1\n"
	rep, err := lint.File([]byte(sym), report.Options{Only: []string{"grammar"}})
	if err != nil {
		fmt.Println(err)
		return
	}

	wanted := report.Requirements{Checks: []string{"cfi"}}
	result := report.Result{File: "app.sym", Report: rep, Unmet: wanted.Unmet(rep)}
	err = report.Write(os.Stdout, "text", "1.0", []report.Result{result})
	if err != nil {
		fmt.Println(err)
	}
	fmt.Println("bad:", result.Bad())
	// Output:
	// app.sym
	//     check  compared  wrong  missing  not verified  findings
	//   grammar         4      1        0             0         1  lines
	// of 32 bytes of code covered: functions 100 % lines 0 % inlines 0 % cfi 0 %
	// app.sym:4: 1000 20 3 1: number of no earlier record [grammar]
	// app.sym: required: cfi was not checked
	// bad: true
}
