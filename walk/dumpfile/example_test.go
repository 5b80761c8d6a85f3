package dumpfile_test

import (
	"context"
	"fmt"
	"log"
	"path/filepath"

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

// Example_many walks many dumps with one set of symbols: what no dump uses stays in memory for the next one.
func Example_many() {
	ctx := context.Background()
	s, err := symbols.Open(ctx, []string{"../../cmd/stackwalk/testdata/breakpad/symbols"}, symbols.Options{Keep: 64 << 20})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	paths, _ := filepath.Glob("../minidump/testdata/minidump2*.dmp")
	for _, path := range paths { // or several at a time
		files := s.Files()
		d, err := dumpfile.Open(ctx, path, dumpfile.Options{Files: files})
		if err != nil {
			log.Print(err) // and go on with the next one
			continue
		}
		result, err := d.Walk(ctx, s, walk.Options{})
		if err == nil {
			fmt.Println(filepath.Base(path), len(result.Stacks[result.Crashed()].Frames), "frames")
		}
		d.Close()
		files.Close()
	}
	// Output:
	// minidump2.dmp 4 frames
}
