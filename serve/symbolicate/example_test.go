package symbolicate_test

import (
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	"symkit/serve/symbolicate"
)

func Example() {
	server, err := symbolicate.New(testStore(), symbolicate.Options{Memory: 1 << 30})
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()
	request := `{"jobs": [{"memoryMap": [["app", "D48F191186D67E69DF025AD71FB91E1F0"]], "stacks": [[[0, 21385]]]}]}`
	w := httptest.NewRecorder()
	server.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/symbolicate/v5", strings.NewReader(request)))
	fmt.Println(strings.ReplaceAll(w.Body.String(), ", ", ",\n"))
	// Output:
	// {"results": [{"stacks": [[{"frame": 0,
	// "module": "app",
	// "module_offset": "0x5389",
	// "function": "app::main",
	// "function_offset": "0x9",
	// "file": "/src/app/main.rs",
	// "line": 2,
	// "function_size": "0x44"}]],
	// "found_modules": {"app/D48F191186D67E69DF025AD71FB91E1F0": true}}]}
}
