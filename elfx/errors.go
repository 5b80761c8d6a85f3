package elfx

import "symkit/internal/mem"

// Errors of opening and reading a file.
var (
	// ErrChanged: the file was truncated, or its disk failed, while its bytes
	// were in use.
	ErrChanged = mem.ErrChanged
	// ErrNotRegular: a directory, FIFO, socket or device was given as a file.
	ErrNotRegular = mem.ErrNotRegular
	// ErrTooLarge: the file does not fit this machine's address space.
	ErrTooLarge = mem.ErrTooLarge
)
