package command

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"syscall"

	"symkit/internal/address"
	"symkit/internal/filename"
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

// Schemes are those of the addresses that files are read from.
var Schemes = []string{"https", "http", "s3"}

// Inputs returns an error about the first of the paths that begins like an address and has none of
// the schemes, unless it is the name of a file.
func Inputs(flag string, paths []string, schemes ...string) error {
	for _, path := range paths {
		err := address.Check(path, schemes...)
		if err == nil {
			continue
		}
		if _, missing := os.Stat(path); missing != nil {
			return named(flag, err)
		}
	}
	return nil
}

// Output returns an error about the value of a flag that begins like an address and has none of the
// schemes. A directory with such a name would hide the mistake.
func Output(flag, path string, schemes ...string) error {
	return named(flag, address.Check(path, schemes...))
}

// named puts the name of a flag before an error about its value.
func named(flag string, err error) error {
	if err == nil || flag == "" {
		return err
	}
	return fmt.Errorf("%s %w", flag, err)
}

// Unreadable completes an error about opening or reading the file at path: the flag that
// names the file comes first, and the file to give instead, want, comes last. Errors about
// the contents of the file or about other files are returned as they are.
func Unreadable(flag, path string, err error, want string) error {
	e, other := errors.AsType[*fs.PathError](err)
	named, begins := errors.AsType[*filename.Error](err)
	_, system := errors.AsType[syscall.Errno](err)
	reason := err
	switch {
	case other && e.Path == path:
		reason = e.Err
	case errors.Is(err, fs.ErrNotExist), system && begins && named.Path == path:
	default:
		return err
	}

	// Windows lets a program open a file such that no other program can read the file.
	const sharingViolation = syscall.Errno(32)
	if runtime.GOOS == "windows" && errors.Is(reason, sharingViolation) {
		want = "another path, or close the program that has the file open"
	}

	// The system's error has the path once more.
	if flag != "" {
		path = flag + " " + path
	}
	return fmt.Errorf("%s: %w; give %s", path, withoutPath(reason), want)
}

// OtherKind adds to an error about a file of the wrong kind which file to give. An error
// that names the program that reads such files (elfx.KindError) is returned as it is.
func OtherKind(err error, want string) error {
	var kind interface{ ReadBy() string }
	if errors.As(err, &kind) && kind.ReadBy() != "" {
		return err
	}
	return fmt.Errorf("%w; give %s", err, want)
}

// withoutPath returns the part of an error that comes from the system, without a path.
func withoutPath(err error) error {
	errno, ok := errors.AsType[syscall.Errno](err)
	if !ok {
		return err
	}
	return systemError{errno}
}

// systemError is an error of the system in the middle of a message: Windows' texts are
// sentences with a full stop.
type systemError struct{ errno syscall.Errno }

func (e systemError) Error() string { return strings.TrimSuffix(e.errno.Error(), ".") }
func (e systemError) Unwrap() error { return e.errno }
