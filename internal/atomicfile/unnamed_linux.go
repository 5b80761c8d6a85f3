package atomicfile

import (
	"errors"
	"fmt"
	"os"
	"path"
	"sync"

	"golang.org/x/sys/unix"
)

// unnamed makes a file without a name (open(2), O_TMPFILE) in the file system of a
// directory below root. It fails if the file system has no such files, or if /proc,
// which link needs, is not there.
func unnamed(root *os.Root, dir string) (*os.File, error) {
	if !hasProc() {
		return nil, errors.ErrUnsupported
	}
	return root.OpenFile(dir, unix.O_TMPFILE|os.O_WRONLY|notPolled, 0o666)
}

// notPolled keeps package os from five system calls that find out that a regular file or a directory
// cannot be polled. It changes nothing else for these.
const notPolled = unix.O_NONBLOCK

// hasProc reports whether /proc/self/fd has this process's files.
var hasProc = sync.OnceValue(func() bool {
	_, err := os.Stat("/proc/self/fd")
	return err == nil
})

// link gives an unnamed file a name below root.
func link(root *os.Root, f *os.File, name string) error {
	dir, err := root.OpenFile(path.Dir(name), os.O_RDONLY|notPolled, 0)
	if err != nil {
		return err
	}
	defer dir.Close()

	return unix.Linkat(unix.AT_FDCWD, procPath(f), int(dir.Fd()), path.Base(name), unix.AT_SYMLINK_FOLLOW)
}

func pathOf(f *os.File) string {
	if hasProc() {
		return procPath(f)
	}
	return f.Name()
}

func procPath(f *os.File) string { return fmt.Sprintf("/proc/self/fd/%d", f.Fd()) }

// inMemory returns an empty file in memory, where there can be none on disk for a reason.
func inMemory(reason error) (*os.File, error) {
	fd, err := unix.MemfdCreate("symkit", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, errors.Join(reason, os.NewSyscallError("memfd_create", err))
	}
	return os.NewFile(uintptr(fd), "memory"), nil
}
