package spool

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// unnamed makes a file that never has a name (open(2), O_TMPFILE), so that nothing is left of a process that is killed.
// It fails on file systems without such files, and without /proc, by which the file is opened again.
func unnamed(dir string) (*os.File, error) {
	_, err := os.Stat("/proc/self/fd")
	if err != nil {
		return nil, errors.ErrUnsupported
	}
	return os.OpenFile(dir, unix.O_TMPFILE|os.O_RDWR, 0o600)
}
