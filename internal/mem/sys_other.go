//go:build !unix

package mem

import (
	"errors"
	"os"
)

// mapFile always fails here: files are read.
func mapFile(*os.File, int) ([]byte, error) { return nil, errors.ErrUnsupported }

// mapMemory returns nil: on this system buffers are in the Go heap.
func mapMemory(int) []byte { return nil }

// release is for mapped memory: nothing.
func release([]byte) error { return nil }

// discard has nothing to give back.
func discard([]byte, uint64, uint64) bool { return false }

// protect likewise.
func protect([]byte, uint64, uint64) bool { return false }
