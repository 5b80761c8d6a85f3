package compare_test

import (
	"log"
	"os"
	"path/filepath"
	"strings"

	"symkit/walk/compare"
)

// Example compares two results of one crash; the second was made with better symbols.
func Example() {
	dir, err := os.MkdirTemp("", "results")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	const result = `{"status": "OK", "symkit": {"version": 1}, "threads": [{"frames": [
		{"trust": "context", "offset": "0x1010", "module": "app", "module_offset": "0x10", "function": FUNCTION}]}]}`
	paths := []string{filepath.Join(dir, "before.json"), filepath.Join(dir, "after.json")}
	for i, function := range []string{`null`, `"main"`} {
		err := os.WriteFile(paths[i], []byte(strings.ReplaceAll(result, "FUNCTION", function)), 0o666)
		if err != nil {
			log.Fatal(err)
		}
	}

	d, err := compare.Paths(paths[0], paths[1])
	if err != nil {
		log.Fatal(err)
	}
	err = d.Text(os.Stdout, 10)
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// frames renamed (renamed): 1
	//      1  app!+ 0x10 -> main
	//         thread 0, frame 0, 0x1010
	//
	// differences: compared 1 result, 1 thread, 1 frame
}
