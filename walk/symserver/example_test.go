package symserver_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"

	"symkit/walk"
	"symkit/walk/minidump"
	"symkit/walk/symserver"
)

// Example walks a minidump with the symbols of a server. Any web server that publishes a
// symbol store is one.
func Example() {
	web := httptest.NewServer(http.FileServer(http.Dir("../../cmd/stackwalk/testdata/breakpad/symbols")))
	defer web.Close()
	cache, err := os.MkdirTemp("", "symbols")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(cache)

	server, err := symserver.New(web.URL, cache)
	if err != nil {
		fmt.Println(err)
		return
	}
	data, err := os.ReadFile("../minidump/testdata/minidump2.dmp")
	if err != nil {
		fmt.Println(err)
		return
	}
	dump, err := minidump.New(data)
	if err != nil {
		fmt.Println(err)
		return
	}

	result, err := walk.Walk(context.Background(), dump.Process(), server, walk.Options{Prefetch: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range result.Stacks[result.Crashed()].Frames[:2] {
		fmt.Printf("%s, line %d\n", f.Place.Func, f.Place.Line)
	}
	// Output:
	// `anonymous namespace'::CrashFunction, line 58
	// main, line 65
}
