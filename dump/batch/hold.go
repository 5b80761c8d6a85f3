package batch

import (
	"context"
	"sync"

	"golang.org/x/sync/semaphore"
)

// holdShare is the divisor of a process's memory budget: files of packages that are held
// in memory may take budget / holdShare.
const holdShare = 4

// hold holds the bytes of files from packages: in memory, up to a limit, and in temporary
// files without a name if a single module is larger than the limit.
type hold struct {
	limit int64

	mu     sync.Mutex
	used   int64 // bytes of the files in memory
	bodies map[*body]bool

	transient *semaphore.Weighted // bytes of files that are looked at and not held
	disk      sync.Mutex          // held while a file that is looked at is on disk
}

// newHold returns a hold for a process with a memory budget in bytes.
func newHold(budget int64) *hold {
	limit := max(budget/holdShare, 1)
	return &hold{limit: limit, bodies: map[*body]bool{}, transient: semaphore.NewWeighted(limit/2 + 1)}
}

// usedNow returns how many bytes are held in memory.
func (h *hold) usedNow() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.used
}

// reserve reports whether a file of size bytes fits into memory, and takes the memory.
func (h *hold) reserve(size int64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if size > h.limit-h.used {
		return false
	}
	h.used += size
	return true
}

func (h *hold) free(size int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.used -= size
}

// borrow blocks until a file of size bytes may be looked at: in memory, or on disk if it
// is large. The caller calls release afterwards.
func (h *hold) borrow(ctx context.Context, size int64) (release func(), err error) {
	if size > h.limit/2 {
		h.disk.Lock()
		return h.disk.Unlock, nil
	}
	err = h.transient.Acquire(ctx, size)
	if err != nil {
		return nil, context.Cause(ctx)
	}
	return func() { h.transient.Release(size) }, nil
}

// put adds a file that was extracted.
func (h *hold) put(b *body, data *held) {
	h.mu.Lock()
	defer h.mu.Unlock()
	b.held, b.err = data, nil
	h.bodies[b] = true
	if data.buffer != nil {
		h.used += b.size
	}
}

// evict gives up files other than those that are wanted, until so many more bytes fit.
func (h *hold) evict(wanted []*body, more int64) {
	keep := map[*body]bool{}
	for _, b := range wanted {
		keep[b] = true
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for b := range h.bodies {
		if h.used+more <= h.limit {
			return
		}
		if !keep[b] {
			h.remove(b)
		}
	}
}

// drop gives up the files of a round. Those that wait for a later round stay if they take less than
// half of the memory.
func (h *hold) drop(bodies []*body, waiting []input) {
	stay := map[*body]bool{}
	for i := range waiting {
		if p := waiting[i].Packed; p != nil {
			stay[p.body] = true
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, b := range bodies {
		if !stay[b] {
			h.remove(b)
		}
	}
	for b := range stay {
		if h.used > h.limit/2 {
			h.remove(b)
		}
	}
}

// remove releases a file. h.mu is locked.
func (h *hold) remove(b *body) {
	if !h.bodies[b] {
		return
	}
	if b.held.buffer != nil {
		h.used -= b.size
	}
	b.held.release()
	b.held = nil
	delete(h.bodies, b)
}

// most returns how many bytes may be held in memory.
func (h *hold) most() int64 { return h.limit }

// close releases all files.
func (h *hold) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for b := range h.bodies {
		h.remove(b)
	}
}
