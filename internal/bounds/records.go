package bounds

import (
	"math"
	"sync"

	"symkit/limits"
)

// Records counts the memory that the records of a file take against a limit, which is a
// number of bytes by the size of the file: of the file itself, not of its sections, since a
// compressed section can inflate to hundreds of bytes for each byte of the file, and a record of a
// few bytes becomes hundreds of bytes in memory.
//
// A Records is for records that are read one after the other. It is not safe for
// concurrent use; Shared is.
type Records struct {
	limits limits.Limits
	limit  string
	size   uint64 // of the file
	left   uint64 // bytes
	over   bool
}

// NewRecords returns a Records for a file of size bytes.
func NewRecords(l limits.Limits, x string, size uint64) *Records {
	return &Records{limits: l, limit: x, size: size, left: l.Max(x, size)}
}

// Take counts n records of a number of bytes each. It returns the error of the limit if they do not
// fit; then no later records fit either. A nil Records has no limit.
func (r *Records) Take(n, bytes int) error {
	if r == nil {
		return nil
	}
	if r.over || uint64(n) > r.left/uint64(bytes) {
		r.over = true
		return r.limits.Exceeded(r.limit, r.size)
	}
	r.left -= uint64(n) * uint64(bytes)
	return nil
}

// Shared is a Records for items that are read concurrently, such as units: the first items
// share the limit, and the rest are dropped. Which items are dropped depends on the order and the
// sizes of the items alone, not on the goroutine that is faster: while the costs of all items
// exceed the limit, the last item is dropped, and an item that comes later is dropped at once. An
// item that alone takes more than half of the limit is dropped, too, and counts as that half, so
// that one hostile item leaves something to the others.
type Shared struct {
	limits limits.Limits
	limit  string
	size   uint64 // of the file

	mu    sync.Mutex
	max   uint64 // bytes
	sum   uint64 // of the costs of items
	items []item
	end   int // the first item that is dropped
}

// item is what an item of a Shared costs.
type item struct {
	cost uint64
	over bool   // it alone takes more than half of the limit
	free func() // releases its memory; nil while the item is read
}

// NewShared returns a Shared for a file of size bytes.
func NewShared(l limits.Limits, x string, size uint64) *Shared {
	return &Shared{limits: l, limit: x, size: size, max: l.Max(x, size), end: math.MaxInt}
}

// Take counts n bytes for item i, which is being read. It returns the error of the limit if the
// item is dropped: its reader should stop. A nil Shared has no limit.
func (s *Shared) Take(i int, n uint64) error { return s.add(i, n, nil) }

// Keep is called after the last Take for item i. The item's memory may then be released at any
// time, by free, which must not use s. Keep returns the error of the limit if the item is dropped
// already; then the caller releases the memory.
func (s *Shared) Keep(i int, free func()) error { return s.add(i, 0, free) }

func (s *Shared) add(i int, n uint64, free func()) error {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	if i < s.end {
		for len(s.items) <= i {
			s.items = append(s.items, item{})
		}
		x := &s.items[i]
		if n > s.max/2-x.cost {
			n, x.over = s.max/2-x.cost, true
		}
		x.cost += n
		x.free = free
		s.sum += n
		s.drop()
	}
	return s.dropped(i)
}

// drop drops the last items until the others fit.
func (s *Shared) drop() {
	for s.sum > s.max {
		s.end = len(s.items) - 1
		last := s.items[s.end]
		s.items = s.items[:s.end]
		s.sum -= last.cost
		if last.free != nil {
			last.free()
		}
	}
}

// End returns the number of the first item that is dropped, and the error of the limit; or a
// nil error. It is final when no item takes memory any more.
func (s *Shared) End() (int, error) {
	if s == nil {
		return math.MaxInt, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.end, s.dropped(s.end)
}

// Dropped returns the error of the limit if item i is dropped, else nil.
func (s *Shared) Dropped(i int) error {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dropped(i)
}

func (s *Shared) dropped(i int) error {
	over := i < len(s.items) && s.items[i].over
	if !over && (i < s.end || s.end == math.MaxInt) {
		return nil
	}
	return s.limits.Exceeded(s.limit, s.size)
}
