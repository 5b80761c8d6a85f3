//go:build !linux

package spool

import (
	"errors"
	"os"
)

// unnamed always fails here.
func unnamed(string) (*os.File, error) { return nil, errors.ErrUnsupported }
