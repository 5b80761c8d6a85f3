//go:build linux || darwin || freebsd

package filecache

import "golang.org/x/sys/unix"

// statfs returns how many bytes of the file system that holds dir are free, and how many there are.
func statfs(dir string) (free, size uint64, err error) {
	var s unix.Statfs_t
	err = unix.Statfs(dir, &s)
	unit := uint64(s.Bsize)
	return uint64(max(int64(s.Bavail), 0)) * unit, uint64(s.Blocks) * unit, err
}
