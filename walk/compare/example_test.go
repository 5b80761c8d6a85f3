package compare_test

import (
	"fmt"
	"os"
	"strings"

	"symkit/walk/compare"
)

// Example compares two results of one crash; the second was made with better symbols.
func Example() {
	const result = `{"status": "OK", "symkit": {"version": 1}, "threads": [{"frames": [
		{"trust": "context", "offset": "0x1010", "module": "app", "module_offset": "0x10", "function": FUNCTION}]}]}`
	var results [2]*compare.Result
	for i, function := range []string{`null`, `"main"`} {
		var err error
		results[i], err = compare.Read(strings.NewReader(strings.ReplaceAll(result, "FUNCTION", function)))
		if err != nil {
			fmt.Println(err)
			return
		}
	}

	d := compare.New()
	d.Compare("crash.json", results[0], results[1])
	err := d.Text(os.Stdout, 10)
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// frames renamed (renamed): 1
	//      1  app!+ 0x10 -> main
	//         crash.json, thread 0, frame 0, 0x1010
	//
	// differences: compared 1 result, 1 thread, 1 frame
}
