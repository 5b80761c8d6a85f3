package corefile_test

import (
	"fmt"

	"symkit/test/testfile"
	"symkit/walk/corefile"
)

// Example opens a core file and lists the facts about the process in it. Package walk finds
// the stacks.
func Example() {
	// corefile.Open reads a file; this one is compressed.
	data, err := testfile.Read("../../testdata/elf/crash-x86_64-gcc12-O2-dw5.core.xz")
	if err != nil {
		fmt.Println(err)
		return
	}
	core, err := corefile.New("core", data, corefile.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer core.Close()

	p := core.Process
	fmt.Println(p.Name, p.CPU, p.Crash.Reason)
	fmt.Printf("%d thread, pc %#x\n", len(p.Threads), p.Threads[p.Crashed].Regs.PC)
	for _, m := range p.Modules {
		fmt.Printf("%s at %#x, build id %x\n", m.File(), m.Base, m.BuildID)
	}
	// Output:
	// crash x86_64 SIGSEGV / SEGV_MAPERR
	// 1 thread, pc 0x40102e
	// crash at 0x400000, build id d5e5470888e1bef872f06618d991c7e673af1d30
	// [vdso] at 0x7ffff7ffd000, build id e95baaeaec8534edc5df3654182ddf12b19d9b23
}
