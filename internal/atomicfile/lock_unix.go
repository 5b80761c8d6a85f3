//go:build unix && !solaris && !aix

package atomicfile

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// hold locks f until it is closed or the process ends. Where a file system has
// no locks, a file of a living process may be taken for abandoned.
func hold(f *os.File) { _ = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) }

// abandoned reports whether no living process holds f. If so, f is locked.
func abandoned(f *os.File) bool {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	return !errors.Is(err, unix.EWOULDBLOCK)
}
