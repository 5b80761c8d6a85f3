//go:build !linux

package atomicfile

import (
	"errors"
	"fmt"
	"os"
)

// unnamed always fails here: files have temporary names.
func unnamed(*os.Root, string) (*os.File, error) { return nil, errors.ErrUnsupported }

// pathOf returns the name of a file, or a path for one without a name.
func pathOf(f *os.File) string {
	_, err := os.Lstat(f.Name())
	if err != nil {
		return fmt.Sprintf("/dev/fd/%d", f.Fd())
	}
	return f.Name()
}

func link(*os.Root, *os.File, string) error { return errors.ErrUnsupported }

// inMemory returns the reason: only Linux has files in memory.
func inMemory(reason error) (*os.File, error) { return nil, reason }
