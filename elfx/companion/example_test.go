package companion_test

import (
	"fmt"
	"os"

	"symkit/elfx/companion"
)

// A program is opened with its debug file and all else that belongs to it.
func ExampleOpenModule() {
	m, err := companion.OpenModule(os.Args[0], companion.Places{DebugDirs: []string{companion.DefaultDebugDir}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer m.Close()
	text, err := m.Image.SectionData(".text")
	fmt.Println(len(text) > 0, err)
	// Output:
	// true <nil>
}
