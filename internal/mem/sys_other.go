//go:build !unix

package mem

import (
	"errors"
	"os"
)

// openFile is os.Open.
func openFile(path string) (*os.File, error) { return os.Open(path) }

// mapFile always fails here: files are read.
func mapFile(*os.File, int) ([]byte, error) { return nil, errors.ErrUnsupported }

// mapMemory returns nil: on this system buffers are in the Go heap.
func mapMemory(int) []byte { return nil }

// release does nothing: there is no mapped memory.
func release([]byte) error { return nil }

// discard returns false: there are no pages to give back.
func discard([]byte, uint64, uint64) bool { return false }

// protect returns false: there are no pages to protect.
func protect([]byte, uint64, uint64) bool { return false }
