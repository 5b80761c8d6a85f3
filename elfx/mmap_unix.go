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
