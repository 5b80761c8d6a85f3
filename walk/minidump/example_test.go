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
	p := d.Process()
	fmt.Printf("%s at %#x\n", p.Crash.Breakpad, p.Crash.Address)
	fmt.Printf("pc %#x\n", p.Threads[p.Crashed].Regs.PC)
	// Output:
	// EXCEPTION_ACCESS_VIOLATION_WRITE at 0x45
	// pc 0x40429e
}
