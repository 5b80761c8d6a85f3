// Package report writes the stacks of a process: as text for people (Text), as a page
// (HTML), as JSON in rust-minidump's schema (JSON), and in the machine-readable format of
// Breakpad's minidump_stackwalk (Machine). Breakpad, RustMinidump and RustMinidumpJSON
// write the other formats of these programs.
//
//	result, err := walk.Walk(ctx, process, supplier, walk.Options{Registers: true})
//	if err != nil {
//		return err
//	}
//	return report.Text(os.Stdout, result, report.TextOptions{})
package report

import "symkit/walk"

// ordered returns the stacks in the order of the text: the stack of the thread that crashed
// comes first. A thread that only wrote the dump is left out.
func ordered(r *walk.Result) (stacks []*walk.Stack) {
	// The first stack is that of the crash.
	crashed := r.Crashed()
	if crashed >= 0 {
		stacks = append(stacks, &r.Stacks[crashed])
	}

	for i := range r.Stacks {
		if i != crashed && !r.Stacks[i].Thread.Writer {
			stacks = append(stacks, &r.Stacks[i])
		}
	}
	return stacks
}
