// Package walk turns a crashed process into the stack of each of its threads.
//
//	d, err := minidump.New(data)
//	if err != nil {
//		return err
//	}
//	store := &sources.Store{Dirs: []string{"symbols"}}
//	result, err := walk.Walk(ctx, d.Process(), store, walk.Options{})
//	if err != nil {
//		return err
//	}
//	for _, s := range result.Stacks {
//		for _, f := range s.Frames {
//			fmt.Printf("%#x %s %s:%d\n", f.PC, f.Place.Func, f.Place.File, f.Place.Line)
//		}
//	}
//
// A Process is the content of a crash dump: threads with their registers, memory, modules.
// Packages walk/corefile and walk/minidump make one. Walk finds the module of each
// instruction pointer, gets the module's symbols from a Supplier (package walk/symbols has
// several), names the frame, and finds the caller: by STACK WIN or STACK CFI, else by the
// layout of a signal frame, the link register, the frame pointer, else by scanning the
// stack for a return address. A result that is impossible is rejected, and the next
// technique is tried; each frame has the technique that found it (Trust) and the better
// ones that failed (Why). Package walk/report writes the result.
//
// Addresses are those of the process. Nothing in a dump is trusted: reads are
// bounds-checked, every chain ends.
package walk
