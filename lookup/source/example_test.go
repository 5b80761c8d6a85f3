package source_test

import (
	"fmt"

	"symkit/lookup/source"
)

func ExampleAround() {
	text := []byte("int main(void)\n{\n\t*(int *)0 = 1;\n}\n")
	for _, line := range source.Around(text, 3, 1, 1) {
		fmt.Printf("%d: %q\n", line.Number, line.Text)
	}
	// Output:
	// 2: "{"
	// 3: "\t*(int *)0 = 1;"
	// 4: "}"
}
