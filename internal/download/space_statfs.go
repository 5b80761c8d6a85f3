//go:build linux || darwin || freebsd

package download

import (
	"path/filepath"

	"golang.org/x/sys/unix"
)

// freeSpace returns how many bytes of the file system that holds dir are free,
// and how many there are.
func freeSpace(dir string) (free, size uint64, ok bool) {
	for {
		var s unix.Statfs_t
		err := unix.Statfs(dir, &s)
		if err == nil {
			unit := uint64(s.Bsize)
			return uint64(max(int64(s.Bavail), 0)) * unit, uint64(s.Blocks) * unit, true
		}

		// A directory that has not been made yet will be on its parent's file system.
		parent := filepath.Dir(dir)
		if parent == dir {
			return 0, 0, false
		}
		dir = parent
	}
}
