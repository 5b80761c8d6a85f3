package elfx

import (
	"os"

	"symkit/internal/mem"
)

// aheadStep is how much of a buffer is populated at a time: so little that the
// pages are still in the cache when they are written.
const aheadStep = 256 << 10

// leastAhead is the size from which buffers are populated.
const leastAhead = 1 << 20

// ahead populates buffers just before they are written, each from its start to
// its end. A buffer that is written again has its pages already.
type ahead struct {
	data  []byte
	next  int            // what lies before has its pages
	known map[*byte]bool // first bytes of buffers
}

// wrote is called with the buffer that is being written and the number of bytes
// that are written.
func (a *ahead) wrote(data []byte, done int) {
	if len(data) == 0 {
		return
	}
	if len(a.data) == 0 || &data[0] != &a.data[0] {
		a.start(data)
	}
	if done+aheadStep/2 < a.next {
		return
	}

	from := max(a.next, done)
	a.next = min(from+aheadStep, len(a.data))
	page := os.Getpagesize()
	if from, to := from/page*page, a.next/page*page; len(a.data) >= leastAhead && from < to {
		mem.Populate(a.data[from:to])
	}
}

// start makes data the buffer that is being written.
func (a *ahead) start(data []byte) {
	a.data, a.next = data, 0
	if a.known[&data[0]] {
		a.next = len(data)
	}
	if a.known == nil {
		a.known = map[*byte]bool{}
	}
	a.known[&data[0]] = true
}
