package filecache

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// inMemory returns an empty file in memory, where there can be none on disk for a reason.
func inMemory(reason error) (*os.File, error) {
	fd, err := unix.MemfdCreate("symkit", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, errors.Join(reason, os.NewSyscallError("memfd_create", err))
	}
	return os.NewFile(uintptr(fd), "memory"), nil
}
