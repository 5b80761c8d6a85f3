package report_test

import (
	"context"
	"fmt"
	"os"

	"symkit/walk"
	"symkit/walk/minidump"
	"symkit/walk/report"
	"symkit/walk/symbols/sources"
)

// Example walks a minidump with the symbols of a store and writes the stacks for
// people. A symserver.Server takes the place of the store where symbols come over HTTP.
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
	store, err := sources.NewStore([]string{"../../cmd/stackwalk/testdata/breakpad/symbols"})
	if err != nil {
		fmt.Println(err)
		return
	}

	result, err := walk.Walk(context.Background(), dump.Process(), store, walk.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = report.Text(os.Stdout, result, report.TextOptions{Brief: true})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// Process: test_app.exe
	// PID:     3932
	// System:  Windows NT 5.1.2600 Service Pack 2, x86
	// CPU:     GenuineIntel family 6 model 13 stepping 8, 1 CPU
	// GPU:     UNKNOWN
	// Crash:   EXCEPTION_ACCESS_VIOLATION_WRITE at 0x45, parameters 0x1 0x45
	// Uptime:  0 seconds
	// Threads: 2
	//
	// Thread 3060 (crashed)
	//   0  test_app.exe!`anonymous namespace'::CrashFunction + 0xe [c:\test_app.cc:58]
	//   1  test_app.exe!main + 0x4f [c:\test_app.cc:65]
	//   2  test_app.exe!__tmainCRTStartup + 0x15e [f:\sp\vctools\crt_bld\self_x86\crt\src\crt0.c:327]
	//   3  kernel32.dll!BaseProcessStart + 0x22
}
