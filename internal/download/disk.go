package download

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"symkit/internal/quantity"
)

var (
	// ErrTotal: all files that were fetched are together larger than Disk.MaxTotal.
	ErrTotal = errors.New("too much was fetched in this run (SYMKIT_LIMITS=fetched-total=N changes the limit)")
	// ErrSpace: the file system would have too little free space left.
	ErrSpace = errors.New("too little free space for files from servers")
)

// Disk bounds the bytes that are written into a directory. It is safe for concurrent use.
type Disk struct {
	// Dir is the directory, which need not exist yet. Move changes it.
	Dir string
	// MaxTotal bounds the sum of all files, in bytes; 0 is no bound.
	MaxTotal int64

	written atomic.Int64
	mu      sync.Mutex
	checked int64 // value of written at the last look at the file system

	free func(dir string) (free, size uint64, ok bool) // set by tests; if nil, freeSpace is used
}

const (
	// reserveShare is the part of a file system that stays free: a twentieth, but
	// no more than maxReserve bytes.
	reserveShare = 20
	maxReserve   = 1 << 30
	// checkStep is how many bytes are written between two looks at the free space.
	checkStep = 16 << 20
)

// Announce is called before a file of n bytes is fetched; n is 0 if the size is not
// known. It returns ErrTotal or ErrSpace if the file is too large.
func (d *Disk) Announce(n int64) error {
	if d.MaxTotal > 0 && n > d.MaxTotal-d.written.Load() {
		return ErrTotal
	}
	return d.checkSpace(uint64(max(n, 0)))
}

// Wrote is called after n more bytes were written. It returns ErrTotal or ErrSpace if
// the caller must stop and remove the file.
func (d *Disk) Wrote(n int64) error {
	written := d.written.Add(n)
	if d.MaxTotal > 0 && written > d.MaxTotal {
		return ErrTotal
	}

	// Asking the file system after every write would be slow.
	d.mu.Lock()
	due := written-d.checked >= checkStep
	if due {
		d.checked = written
	}
	d.mu.Unlock()
	if !due {
		return nil
	}
	return d.checkSpace(0)
}

// checkSpace returns ErrSpace if n more bytes would leave too little free space.
func (d *Disk) checkSpace(n uint64) error {
	look := d.free
	if look == nil {
		look = freeSpace
	}

	d.mu.Lock()
	dir := d.Dir
	d.mu.Unlock()
	free, size, ok := look(dir)
	reserve := min(size/reserveShare, maxReserve)
	if ok && (free < reserve || n > free-reserve) {
		return fmt.Errorf("%w: %s are free in %s", ErrSpace, quantity.Bytes(free), dir)
	}
	return nil
}

// Move has later files written into another directory.
func (d *Disk) Move(dir string) {
	d.mu.Lock()
	d.Dir = dir
	d.mu.Unlock()
}
