package pathmap_test

import (
	"fmt"

	"symkit/dump/pathmap"
)

// Example rewrites the names of source files for a source server.
func Example() {
	var m pathmap.Map
	err := m.AddPrefix("/build/app=https://code.example.org/app")
	if err != nil {
		fmt.Println(err)
		return
	}

	for _, name := range []string{"/build/app/src/main.c", "/usr/include/stdio.h"} {
		fmt.Println(m.Apply(name))
	}
	// Output:
	// https://code.example.org/app/src/main.c <nil>
	// /usr/include/stdio.h <nil>
}
