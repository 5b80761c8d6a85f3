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

// anonymous has nothing to offer: buffers are in the Go heap.
func anonymous(uint64) (data []byte, free func()) { return nil, nil }

// drop has nothing to give back.
func (*mapping) drop(from, to uint64) {}

// discard likewise.
func discard([]byte, uint64, uint64) bool { return false }
