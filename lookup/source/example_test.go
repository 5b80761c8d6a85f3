package source_test

import (
	"fmt"

	"symkit/lookup/source"
)

func ExampleFound_Excerpt() {
	found := source.Found{Text: []byte("int main(void)\n{\n\t*(int *)0 = 1;\n}\n")}
	for _, line := range found.Excerpt(3).Lines {
		fmt.Printf("%d: %q %v\n", line.Number, line.Text, line.Hit)
	}
	// Output:
	// 1: "int main(void)" false
	// 2: "{" false
	// 3: "\t*(int *)0 = 1;" true
	// 4: "}" false
}
