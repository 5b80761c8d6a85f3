package command

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// Directories returns an error about the first path in dirs, the values of a flag,
// that is no directory.
func Directories(flag string, dirs []string) error {
	for _, dir := range dirs {
		info, err := os.Stat(dir)
		if err != nil {
			return fmt.Errorf("%s %s: %w; give a directory", flag, dir, withoutPath(err))
		}

		if !info.IsDir() {
			return fmt.Errorf("%s %s: not a directory; give the directory that it is in", flag, dir)
		}
	}
	return nil
}

// Unreadable adds to an error that says that the file at path cannot be opened or read
// what to give instead, and puts the flag that names the file in front. Errors about the
// contents of the file, and those about other files, are returned as they are.
func Unreadable(flag, path string, err error, want string) error {
	e, other := errors.AsType[*fs.PathError](err)
	errno, system := errors.AsType[syscall.Errno](err)
	reason := err
	switch {
	case other && e.Path == path:
		reason = e.Err
	case errors.Is(err, fs.ErrNotExist), system && err.Error() == path+": "+errno.Error():
	default:
		return err
	}

	// The system's error has the path once more.
	if flag != "" {
		path = flag + " " + path
	}
	return fmt.Errorf("%s: %w; give %s", path, withoutPath(reason), want)
}

// withoutPath returns the part of an error that comes from the system, without a path.
func withoutPath(err error) error {
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return errno
	}
	return err
}
