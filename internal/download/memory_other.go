//go:build !linux

package download

import (
	"errors"
	"os"
)

// inMemory returns an error: only Linux has files in memory.
func inMemory() (*os.File, error) { return nil, errors.ErrUnsupported }
