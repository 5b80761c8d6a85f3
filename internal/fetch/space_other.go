//go:build !linux && !darwin && !freebsd

package fetch

// freeSpace returns that it knows nothing: it is not implemented on this system.
func freeSpace(string) (free, size uint64, ok bool) { return 0, 0, false }
