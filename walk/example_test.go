package walk_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"

	"symkit/emit"
	"symkit/walk"
	"symkit/walk/minidump"
	"symkit/walk/symbols/sources"
)

// Example walks all threads of a minidump with the symbol files of a store.
func Example() {
	data, err := os.ReadFile("minidump/testdata/minidump2.dmp")
	if err != nil {
		fmt.Println(err)
		return
	}
	dump, err := minidump.New(data)
	if err != nil {
		fmt.Println(err)
		return
	}
	store := &sources.Store{Dirs: []string{"../cmd/stackwalk/testdata/breakpad/symbols"}}

	result, err := walk.Walk(context.Background(), dump.Process(), store, walk.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, stack := range result.Stacks {
		if i != result.Crashed() {
			continue
		}
		for _, f := range stack.Frames {
			// Calls that were inlined at the frame's address are its inner frames.
			for _, call := range f.Place.Inlines {
				fmt.Printf("%s, line %d, inlined\n", call.Func, call.Line)
			}
			fmt.Printf("%s in %s, line %d (%s)\n", f.Place.Func, f.Module.File(), f.Place.Line, f.Trust)
		}
		fmt.Println(stack.End)
	}
	// Output:
	// `anonymous namespace'::CrashFunction in test_app.exe, line 58 (given as instruction pointer in context)
	// main in test_app.exe, line 65 (call frame info)
	// __tmainCRTStartup in test_app.exe, line 327 (call frame info)
	// BaseProcessStart in kernel32.dll, line 0 (call frame info)
	// end of stack
}

// words is the stack of an invented process: 64-bit words from an address on.
type words struct {
	base uint64
	data []byte
}

// Bytes implements walk.Memory.
func (w words) Bytes(addr, n uint64) []byte {
	if addr < w.base || addr-w.base > uint64(len(w.data)) || n > uint64(len(w.data))-(addr-w.base) {
		return nil
	}
	return w.data[addr-w.base:][:n:n]
}

// supplier has one symbol file for every module.
type supplier []byte

// Symbols implements walk.Supplier.
func (s supplier) Symbols(context.Context, *walk.Module) *walk.Symbols {
	return &walk.Symbols{Index: emit.NewIndex(s)}
}

// ExampleSupplier walks a process from another source than a crash dump, with symbols
// from another source than a store.
func ExampleSupplier() {
	const sym = `MODULE Linux x86_64 0123456789ABCDEF0 app
FUNC 1000 20 0 fail
FUNC 2000 20 0 main
STACK CFI INIT 1000 20 .cfa: $rsp 8 + .ra: .cfa -8 + ^
STACK CFI INIT 2000 20 .cfa: $rsp 16 + .ra: .undef
`
	stack := words{base: 0x7000, data: binary.LittleEndian.AppendUint64(nil, 0x402010)}
	p := &walk.Process{
		OS: "Linux", CPU: "x86_64", Threads: make([]walk.Thread, 1), Memory: stack,
		Modules: []*walk.Module{{Path: "/bin/app", Base: 0x400000, End: 0x410000}},
	}
	const rsp = 7 // DWARF numbers of registers
	p.Threads[0].Regs.PC = 0x401004
	p.Threads[0].Regs.Set(rsp, 0x7000)

	result, err := walk.Walk(context.Background(), p, supplier(sym), walk.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range result.Stacks[0].Frames {
		fmt.Printf("%#x %s\n", f.PC, f.Place.Func)
	}
	// Output:
	// 0x401004 fail
	// 0x402010 main
}
