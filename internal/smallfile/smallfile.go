// Package smallfile reads files that are held in memory as a whole, such as lists and settings.
// Files that never end, as /dev/zero, cost neither time nor memory.
package smallfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"symkit/internal/quantity"
)

// Most is the usual bound of a file, in bytes: many times the size of real ones.
const Most = 64 << 20

var (
	// ErrDevice is the error of a device that has bytes: it need not have an end.
	ErrDevice = errors.New("it is a device, which may have no end")
	// ErrSize is the error of a file that is too large.
	ErrSize = errors.New("it has more than")
)

// Read returns the contents of a file or pipe of at most a number of bytes. Errors have the path,
// as those of package os.
func Read(path string, most int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	data, err := All(file, info, most)
	if _, known := errors.AsType[*fs.PathError](err); err != nil && !known {
		err = &fs.PathError{Op: "read", Path: path, Err: err}
	}
	return data, err
}

// All returns the contents of an open file.
func All(file io.Reader, info fs.FileInfo, most int64) ([]byte, error) {
	if info.Mode()&fs.ModeDevice != 0 {
		n, err := io.ReadFull(file, make([]byte, 1))
		if n > 0 {
			return nil, ErrDevice
		}
		if err == io.EOF { // /dev/null
			err = nil
		}
		return nil, err
	}

	data, err := io.ReadAll(io.LimitReader(file, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("%w %s", ErrSize, quantity.Count(most, "byte", "bytes"))
	}
	if err != nil {
		return nil, err
	}
	return data, nil
}
