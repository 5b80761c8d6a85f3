package download

import (
	"os"

	"golang.org/x/sys/unix"
)

// inMemory returns an empty file in memory.
func inMemory() (*os.File, error) {
	fd, err := unix.MemfdCreate("symkit", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	return os.NewFile(uintptr(fd), "memory"), nil
}
