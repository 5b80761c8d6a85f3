package atomicfile

import (
	"fmt"
	"os"
	"path"

	"golang.org/x/sys/unix"
)

// unnamed makes a file without a name (open(2), O_TMPFILE) in the file system of a
// directory below root. It fails if the file system has no such files, or if /proc,
// which link needs, is not there.
func unnamed(root *os.Root, dir string) (*os.File, error) {
	f, err := root.OpenFile(dir, unix.O_TMPFILE|os.O_WRONLY, 0o666)
	if err != nil {
		return nil, err
	}

	if _, err := os.Stat(procPath(f)); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// link gives an unnamed file a name below root.
func link(root *os.Root, f *os.File, name string) error {
	dir, err := root.Open(path.Dir(name))
	if err != nil {
		return err
	}
	defer dir.Close()

	return unix.Linkat(unix.AT_FDCWD, procPath(f), int(dir.Fd()), path.Base(name), unix.AT_SYMLINK_FOLLOW)
}

func procPath(f *os.File) string { return fmt.Sprintf("/proc/self/fd/%d", f.Fd()) }
