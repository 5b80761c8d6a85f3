// Package peers writes the stacks of a process in the formats of other walkers: Breakpad and
// Machine are those of Breakpad's minidump_stackwalk for people and for programs, RustMinidump
// is that of rust-minidump's minidump-stackwalk for people. Its JSON is that of package report.
//
//	result, err := walk.Walk(ctx, process, supplier, walk.Options{Registers: true})
//	if err != nil {
//		return err
//	}
//	return peers.Machine(os.Stdout, result)
//
// A process, its frames and their names are those of package walk: a format alone is another
// program's. Package peers/rawdump writes the streams of a minidump.
package peers
