//go:build unix

package elfx

import (
	"os"

	"golang.org/x/sys/unix"
)

// mmap maps the first size bytes of file for reading.
func mmap(file *os.File, size int) (data []byte, unmap func() error, err error) {
	data, err = unix.Mmap(int(file.Fd()), 0, size, unix.PROT_READ, unix.MAP_PRIVATE)
	if err != nil {
		return nil, nil, err
	}
	return data, func() error { return unix.Munmap(data) }, nil
}

// anonymous returns size zero bytes outside of the Go heap, or nil.
func anonymous(size uint64) (data []byte, free func()) {
	data, err := unix.Mmap(-1, 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil, nil
	}
	return data, func() { _ = unix.Munmap(data) }
}

// drop gives the whole pages between two file offsets back to the system.
func (m *mapping) drop(from, to uint64) {
	if m != nil && m.unmap != nil && to <= uint64(len(m.data)) {
		discard(m.data, from, to)
	}
}

// discard gives the whole pages in [from, to) of data, which begins with a
// page, back to the system; it reports whether there are any.
func discard(data []byte, from, to uint64) bool {
	page := uint64(os.Getpagesize())
	from, to = (from+page-1)/page*page, to/page*page
	return from < to && unix.Madvise(data[from:to], unix.MADV_DONTNEED) == nil
}
