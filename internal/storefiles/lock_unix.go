//go:build unix && !solaris && !aix

package storefiles

import (
	"os"

	"golang.org/x/sys/unix"
)

// lockFile waits for the lock of an open file, which ends when the file is closed.
func lockFile(f *os.File) error {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX)
		if err != unix.EINTR {
			return os.NewSyscallError("flock", err)
		}
	}
}
