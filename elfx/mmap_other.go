//go:build !unix

package elfx

import (
	"errors"
	"os"
)

// mmap always fails here: files are read into memory.
func mmap(*os.File, int) (data []byte, unmap func() error, err error) {
	return nil, nil, errors.ErrUnsupported
}
