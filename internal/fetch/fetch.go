// Package fetch is what the clients of symbol servers and of debuginfod have in
// common: bounds on what a server can make a machine store and wait for, and
// where it may send a client.
package fetch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

var (
	// ErrRedirect: a redirect to what is no http or https URL, or too many.
	ErrRedirect = errors.New("redirect is not followed")
	// ErrTotal: everything that was fetched is together larger than Disk.MaxTotal.
	ErrTotal = errors.New("too much was fetched in this run (SYMKIT_LIMITS=fetched-total=N changes the limit)")
	// ErrSpace: the file system would have too little free space left.
	ErrSpace = errors.New("too little free space for files from servers")
)

// maxRedirects is how many redirects are followed for one file.
const maxRedirects = 10

// HTTP makes requests. It follows redirects to http and https URLs only.
var HTTP = &http.Client{CheckRedirect: func(next *http.Request, via []*http.Request) error {
	if next.URL.Scheme != "http" && next.URL.Scheme != "https" {
		return fmt.Errorf("%w: to a %s URL", ErrRedirect, next.URL.Scheme)
	}
	if len(via) > maxRedirects {
		return fmt.Errorf("%w: more than %d", ErrRedirect, maxRedirects)
	}
	return nil
}}

// leastBytes is what a server has to send in each window of Watch.
const leastBytes = 100 << 10

// Watch calls slow if, in a window of time, the count has grown by less than
// leastBytes. It returns after that, or when ctx ends.
func Watch(ctx context.Context, window time.Duration, count *atomic.Int64, slow func()) {
	tick := time.NewTicker(window)
	defer tick.Stop()
	var last int64
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := count.Load()
		if now-last < leastBytes {
			slow()
			return
		}
		last = now
	}
}

// Disk bounds what is written into a directory. Its methods may be called from
// any number of goroutines.
type Disk struct {
	// Dir is a directory that exists, or one that will be made below one that does.
	Dir string
	// MaxTotal bounds the bytes of all files in all; 0 is no bound.
	MaxTotal int64

	written atomic.Int64
	mu      sync.Mutex
	checked int64 // value of written at the last look at the file system

	free func(dir string) (free, size uint64, ok bool) // in tests; nil: the system's
}

const (
	// reserveShare is the part of a file system that stays free: a twentieth, but
	// no more than maxReserve bytes.
	reserveShare = 20
	maxReserve   = 1 << 30
	// checkStep is how many bytes are written between two looks at the free space.
	checkStep = 16 << 20
)

// Announce is called before a file of n bytes (0: not known) is fetched. The
// error is ErrTotal or ErrSpace if there is no room for it.
func (d *Disk) Announce(n int64) error {
	if d.MaxTotal > 0 && n > d.MaxTotal-d.written.Load() {
		return ErrTotal
	}
	return d.room(uint64(max(n, 0)))
}

// Wrote is called after n bytes more were written. The error is ErrTotal or
// ErrSpace if the file has to be given up.
func (d *Disk) Wrote(n int64) error {
	written := d.written.Add(n)
	if d.MaxTotal > 0 && written > d.MaxTotal {
		return ErrTotal
	}
	d.mu.Lock()
	due := written-d.checked >= checkStep
	if due {
		d.checked = written
	}
	d.mu.Unlock()
	if !due {
		return nil
	}
	return d.room(0)
}

// room tells whether n more bytes leave enough free space.
func (d *Disk) room(n uint64) error {
	look := d.free
	if look == nil {
		look = freeSpace
	}
	free, size, ok := look(d.Dir)
	if reserve := min(size/reserveShare, maxReserve); ok && (free < reserve || n > free-reserve) {
		return fmt.Errorf("%w: %d MiB are free in %s", ErrSpace, free>>20, d.Dir)
	}
	return nil
}
