// Package minidump reads minidumps: crash dumps in the format of Windows'
// MiniDumpWriteDump, as Windows, Breakpad and Crashpad write them for any
// system.
//
//	d, err := minidump.New(data)
//	if err != nil {
//		return err
//	}
//	p := d.Process()
//	fmt.Printf("%s at %#x\n", p.Crash.Reason, p.Crash.Address)
//	for _, m := range p.Modules {
//		fmt.Printf("%#x %s %s\n", m.Base, m.Name, m.DebugID)
//	}
//	result, err := walk.Walk(ctx, p, store, walk.Options{}) // the stacks
//
// New takes the bytes of a whole file. The process aliases them; strings and memory
// are sliced, not copied. Both byte orders are read. A dump without a readable list of threads or system information is an
// error; any other damage loses only the stream or the record that it is in and
// is one of the process's Warnings.
//
// Nothing in a dump is trusted. Counts are compared with the bytes that are
// there before anything is allocated, and records that overlap (strings apart,
// which cost nothing until they are decoded) use up a budget that the size of
// the file sets, so that memory is a small multiple of the file.
//
// The structures are those of Microsoft's minidumpapiset.h, Breakpad's
// minidump_format.h and Crashpad's minidump_extensions.h; comments name them
// by their names there.
package minidump
