package peers_test

import (
	"context"
	"fmt"
	"os"

	"symkit/walk"
	"symkit/walk/minidump"
	"symkit/walk/peers"
)

// Example writes the stack of the thread that crashed as Breakpad's minidump_stackwalk -b does.
func Example() {
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
	result, err := walk.Walk(context.Background(), dump.Process(), nil, walk.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = peers.Breakpad(os.Stdout, result, peers.BreakpadOptions{Brief: true})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// Thread 0 (crashed)
	//  0  test_app.exe + 0x429e
	//  1  test_app.exe + 0x4200
	//  2  test_app.exe + 0x53ec
	//  3  kernel32.dll + 0x16fd7
}
