package command

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// Directories returns an error about the first of the directories that a flag names
// which is none.
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

// Missing adds to an error what to give instead, if it says that a file is not there,
// and puts the flag that names the file in front. Other errors stay as they are.
func Missing(flag, path string, err error, want string) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if flag != "" {
		path = flag + " " + path
	}
	return fmt.Errorf("%s: %w; give %s", path, withoutPath(err), want)
}

// withoutPath returns the system's part of an error that names the path.
func withoutPath(err error) error {
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return errno
	}
	return err
}
