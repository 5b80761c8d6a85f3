package minidump_test

import (
	"fmt"
	"os"

	"symkit/walk/minidump"
)

func ExampleNew() {
	data, err := os.ReadFile("testdata/minidump2.dmp")
	if err != nil {
		fmt.Println(err)
		return
	}
	d, err := minidump.New(data)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s at %#x\n", d.CrashReason(minidump.StyleBreakpad), d.CrashAddress())
	x, err := d.ThreadContext(&d.Threads[d.RequestingThread()])
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("pc %#x, sp %#x\n", x.PC(), x.SP())
	// Output:
	// EXCEPTION_ACCESS_VIOLATION_WRITE at 0x45
	// pc 0x40429e, sp 0x12fe84
}
