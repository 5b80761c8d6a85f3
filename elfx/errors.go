package elfx

import "symkit/internal/mem"

// Errors of opening and reading a file.
var (
	// ErrChanged: the file was truncated or written, or its disk failed, while its
	// bytes were in use.
	ErrChanged = mem.ErrChanged
	// ErrNotRegular: the path is that of a directory, FIFO, socket or device.
	ErrNotRegular = mem.ErrNotRegular
)
