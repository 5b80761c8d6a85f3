package dumpfile_test

import (
	"context"
	"fmt"
	"log"

	"symkit/walk"
	"symkit/walk/dumpfile"
	"symkit/walk/symbols"
)

// Example walks the thread that crashed with the symbols of a store.
func Example() {
	ctx := context.Background()
	s, err := symbols.Open(ctx, []string{"../../cmd/stackwalk/testdata/breakpad/symbols"}, symbols.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	d, err := dumpfile.Open(ctx, "../minidump/testdata/minidump2.dmp", dumpfile.Options{Files: s.Files()})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	result, err := d.Walk(ctx, s, walk.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(d.Process.Crash.Reason)
	for _, f := range result.Stacks[result.Crashed()].Frames[:2] {
		fmt.Println(f.Place.Func)
	}
	// Output:
	// EXCEPTION_ACCESS_VIOLATION_WRITE
	// `anonymous namespace'::CrashFunction
	// main
}
