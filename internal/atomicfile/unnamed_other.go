//go:build !linux

package atomicfile

import (
	"errors"
	"os"
)

// unnamed always fails here: files have temporary names.
func unnamed(*os.Root, string) (*os.File, error) { return nil, errors.ErrUnsupported }

func link(*os.Root, *os.File, string) error { return errors.ErrUnsupported }
