//go:build unix

package mem

import (
	"io/fs"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// openFile is os.Open for a regular file. os.Open first makes the descriptors of Go's network
// poller, which knows no regular files: a hundredth of the time of a small dump.
func openFile(path string) (*os.File, error) {
	for {
		fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		switch err {
		case nil:
			return os.NewFile(uintptr(fd), path), nil
		case unix.EINTR: // from some network and FUSE file systems
			continue
		}
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
}

// mapFile maps the first size bytes of file for reading.
func mapFile(file *os.File, size int) ([]byte, error) {
	return unix.Mmap(int(file.Fd()), 0, size, unix.PROT_READ, unix.MAP_PRIVATE)
}

// mapMemory returns size zero bytes outside of the Go heap, or nil.
func mapMemory(size int) []byte {
	data, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil
	}
	return data
}

// release unmaps a result of mapFile or mapMemory. In the mode poison the addresses stay
// reserved and inaccessible, so that no later mapping gets them.
func release(data []byte) error {
	if current != poison {
		return unix.Munmap(data)
	}
	seal(data)
	return nil
}

// protect is discard in the mode poison: the pages become inaccessible.
func protect(data []byte, from, to uint64) bool {
	// A page that is not whole has bytes that are still used.
	from, to = wholePages(from, to)
	if from >= to {
		return false
	}
	seal(data[from:to])
	return true
}

// seal puts an inaccessible mapping in the place of data, which begins with a
// page. The kernel, which allows a limited number of mappings, merges neighbours of
// this kind.
func seal(data []byte) {
	size := (len(data) + pageSize - 1) / pageSize * pageSize
	// The range is that of data, to the end of its last page, and no more.
	_, err := unix.MmapPtr(-1, 0, unsafe.Pointer(unsafe.SliceData(data)), uintptr(size), unix.PROT_NONE, unix.MAP_ANON|unix.MAP_PRIVATE|unix.MAP_FIXED)
	if err != nil {
		panic(err) // a test mode that does not poison would prove nothing
	}
}

// discard gives the whole pages in [from, to) of data, which begins with a
// page, back to the system, and reports whether there are any.
func discard(data []byte, from, to uint64) bool {
	from, to = wholePages(from, to)
	return from < to && unix.Madvise(data[from:to], unix.MADV_DONTNEED) == nil
}

// wholePages returns the range of the whole pages in [from, to).
func wholePages(from, to uint64) (uint64, uint64) {
	page := uint64(pageSize)
	return (from + page - 1) / page * page, to / page * page
}
