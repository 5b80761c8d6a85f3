package tombstone_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"symkit/walk"
	"symkit/walk/tombstone"
)

// Example shows the frames of a log without symbols: functions have the names that the log has.
func Example() {
	data, err := os.ReadFile("testdata/02-arm64-logcat.txt")
	if err != nil {
		log.Fatal(err)
	}
	stones, err := tombstone.Decode(data)
	if err != nil {
		log.Fatal(err)
	}
	result, err := walk.Walk(context.Background(), stones[0].Process(), nil, walk.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(stones[0].Abort)
	for _, f := range result.Stacks[0].Frames[:3] {
		fmt.Printf("%s %q\n", f.Module.Name, f.Place.Func)
	}
	// Output:
	// Check failed: total > 0 (shop.cc:12)
	// libc.so "abort"
	// libshop.so ""
	// libshop.so ""
}
