package check

import (
	"sync"
)

// openList is the numbers below some number of which each is open until it is closed. To find
// the next open one takes, on average, next to no time, however many are closed before it.
type openList struct {
	mu sync.Mutex
	to []uint32 // of each number, one at or above it, itself while it is open
}

func newOpenList(n int) *openList {
	l := &openList{to: make([]uint32, n+1)}
	for i := range l.to {
		l.to[i] = uint32(i)
	}
	return l
}

// next returns the first open number at or above i, or the number that all are below.
func (l *openList) next(i int) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	i = min(i, len(l.to)-1)
	for int(l.to[i]) != i {
		l.to[i] = l.to[l.to[i]]
		i = int(l.to[i])
	}
	return i
}

// close closes number i.
func (l *openList) close(i int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.to[i] = uint32(i + 1)
}
