package check

import (
	"sync"
)

// openList is the numbers below a limit. Each number is open until it is closed. Finding the next
// open number takes nearly constant time on average, however many numbers before it are closed.
type openList struct {
	mu sync.Mutex
	to []uint32 // by number: a number at or above it; the number itself while it is open
}

func newOpenList(n int) *openList {
	l := &openList{to: make([]uint32, n+1)}
	for i := range l.to {
		l.to[i] = uint32(i)
	}
	return l
}

// next returns the first open number at or above i, or the limit if there is none.
func (l *openList) next(i int) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	i = min(i, len(l.to)-1)

	// Each step halves the path for later searches.
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
