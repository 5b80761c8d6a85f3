package companion_test

import (
	"context"
	"fmt"
	"path/filepath"

	"symkit/elfx/companion"
)

// Example opens a stripped program with its debug file and all else that belongs to it.
func Example() {
	m, _, err := companion.Open(context.Background(), []string{"../../testdata/elf/cxx-x86_64-gcc12-O2-dw5-stripped.elf"}, companion.Search{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer m.Close()

	// The image has the sections of both files, the probes say how the debug file was found.
	info, err := m.Image.SectionData(".debug_info")
	fmt.Println(len(info) > 0, err)
	found := m.Probes[len(m.Probes)-1]
	fmt.Println(found.What, filepath.Base(found.Path), found.Err)
	// Output:
	// true <nil>
	// debug file cxx-x86_64-gcc12-O2-dw5-stripped.debug <nil>
}
