//go:build unix && !solaris && !aix

package atomicfile

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// hold locks f until f is closed or the process ends. On a file system without locks, the
// file of a living process may be mistaken for an abandoned one.
func hold(f *os.File) { _ = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) }

// abandoned reports whether no living process holds f. If so, this process now does.
func abandoned(f *os.File) bool {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	return !errors.Is(err, unix.EWOULDBLOCK)
}

// keepLock keeps the lock of f until unlock is called, also after f is closed.
func keepLock(f *os.File) (unlock func()) {
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return func() {}
	}
	return func() { _ = unix.Close(fd) } // nothing was written
}
