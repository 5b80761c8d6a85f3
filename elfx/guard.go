package elfx

import "symkit/internal/mem"

// Guard runs fn, which reads bytes that alias a mapped file, and returns the error of
// fn, or ErrChanged if the file was truncated or its disk failed meanwhile. Without
// Guard, the operating system ends the process with SIGBUS. Every goroutine that reads
// such bytes needs a Guard of its own; one within another is harmless. The functions
// of this module that take opened files need no Guard around them.
func Guard(fn func() error) error { return mem.Guard(fn) }
