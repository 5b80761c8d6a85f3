//go:build unix

package command

import (
	"os"

	"golang.org/x/sys/unix"
)

// stdoutClosed reports whether the process was started with file descriptor 1 closed, as
// by ">&-" in a shell. Go's runtime opens /dev/null in place of a closed standard
// descriptor before any other code runs (runtime.checkfds), for reading and writing. The
// descriptor that a shell opens for ">/dev/null" is not readable, and a daemon's three
// descriptors are duplicates of one. A parent that gives the child a readable /dev/null as
// standard output alone looks the same as one that closes it; then the output, if any, is
// refused.
func stdoutClosed() bool {
	flags, err := unix.FcntlInt(os.Stdout.Fd(), unix.F_GETFL, 0)
	if err != nil {
		return true
	}

	if flags&unix.O_ACCMODE != unix.O_RDWR || !isNull(os.Stdout) {
		return false
	}
	return !sameDescription(os.Stdout, os.Stdin) && !sameDescription(os.Stdout, os.Stderr)
}

// isNull reports whether f is the null device.
func isNull(f *os.File) bool {
	null, err := os.Stat(os.DevNull)
	if err != nil {
		return false
	}

	info, err := f.Stat()
	return err == nil && os.SameFile(null, info)
}

// sameDescription reports whether b is a duplicate of a, which is the null
// device: duplicates share the status flags of open(2), so a change of one shows
// in the other.
func sameDescription(a, b *os.File) bool {
	before, err := unix.FcntlInt(a.Fd(), unix.F_GETFL, 0)
	if err != nil || !isNull(b) {
		return false
	}

	// A change of a's flags shows in b only if both are one open file description.
	other, err := unix.FcntlInt(b.Fd(), unix.F_GETFL, 0)
	if err != nil || other != before {
		return false
	}

	if _, err := unix.FcntlInt(a.Fd(), unix.F_SETFL, before^unix.O_APPEND); err != nil {
		return false
	}

	other, err = unix.FcntlInt(b.Fd(), unix.F_GETFL, 0)
	_, _ = unix.FcntlInt(a.Fd(), unix.F_SETFL, before)
	return err == nil && other != before
}
