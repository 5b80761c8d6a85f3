package demangle_test

import (
	"fmt"

	"symkit/internal/demangle"
)

func ExampleDemangle() {
	for _, name := range []string{"_ZN3foo3barEi.cold", "_D4main3fooFiZv", "__shapes_MOD_area", "main"} {
		text, ok := demangle.Demangle([]byte(name))
		fmt.Println(text, ok)
	}
	// Output:
	// foo::bar(int) true
	// main.foo(int) true
	// shapes::area true
	// main false
}

func ExampleForLanguage() {
	const ada95 = 0x0d
	text, _ := demangle.ForLanguage(ada95, []byte("ada__text_io__put_line__2"))
	fmt.Println(text)
	// Output: ada.text_io.put_line
}
