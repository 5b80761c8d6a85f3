package filecache

import (
	"errors"
	"fmt"
	"path/filepath"

	"symkit/internal/quantity"
)

var (
	// ErrTotal: all files together are larger than Cache.MaxTotal.
	ErrTotal = errors.New("too much was fetched in this run (SYMKIT_LIMITS=fetched-total=N changes the limit)")
	// ErrSpace: the file system would have too little free space left.
	ErrSpace = errors.New("too little free space for files from servers")
)

const (
	// reserveShare is the part of a file system that stays free: a twentieth, but
	// no more than maxReserve bytes.
	reserveShare = 20
	maxReserve   = 1 << 30
	// checkStep is how many bytes are written between two looks at the free space.
	checkStep = 16 << 20
)

// announce returns ErrTotal or ErrSpace if a file of n bytes is too large for a directory; n is 0 or less if the size
// is not known.
func (c *Cache) announce(dir string, n int64) error {
	if c.MaxTotal > 0 && n > c.MaxTotal-c.written.Load() {
		return ErrTotal
	}
	return c.checkSpace(dir, uint64(max(n, 0)))
}

// wrote returns ErrTotal or ErrSpace if the n bytes that were written into a directory are too much.
func (c *Cache) wrote(dir string, n int64) error {
	written := c.written.Add(n)
	if c.MaxTotal > 0 && written > c.MaxTotal {
		return ErrTotal
	}

	// Asking the file system after every write would be slow.
	checked := c.checked.Load()
	if written-checked < checkStep || !c.checked.CompareAndSwap(checked, written) {
		return nil
	}
	return c.checkSpace(dir, 0)
}

// checkSpace returns ErrSpace if n more bytes would leave too little free space.
func (c *Cache) checkSpace(dir string, n uint64) error {
	look := c.statfs
	if look == nil {
		look = statfs
	}
	free, size, err := look(dir)
	for err != nil && dir != filepath.Dir(dir) { // a directory that is not there yet
		dir = filepath.Dir(dir)
		free, size, err = look(dir)
	}
	reserve := min(size/reserveShare, maxReserve)
	if err == nil && (free < reserve || n > free-reserve) {
		return fmt.Errorf("%w: %s are free in %s", ErrSpace, quantity.Bytes(free), dir)
	}
	return nil
}
