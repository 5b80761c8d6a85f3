package symbols_test

import (
	"context"
	"fmt"
	"log"

	"symkit/walk"
	"symkit/walk/symbols"
)

// Example finds the symbols of a module in a store. An address of a symbol server or of a bucket (s3://BUCKET/PREFIX)
// can stand beside the path of the store.
func Example() {
	ctx := context.Background()
	s, err := symbols.Open(ctx, []string{"../../cmd/stackwalk/testdata/breakpad/symbols"}, symbols.Options{PathsOnly: true})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()

	found := s.Symbols(ctx, &walk.Module{Name: "test_app.pdb", DebugID: "5A9832E5287241C1838ED98914E9B7FF1"})
	defer found.Close()
	fmt.Println(found.From)
	// Output: ../../cmd/stackwalk/testdata/breakpad/symbols/test_app.pdb/5A9832E5287241C1838ED98914E9B7FF1/test_app.sym
}
