package elfx

import (
	"os"

	"symkit/internal/mem"
)

// aheadStep is the number of bytes that are populated at a time: few enough for the
// pages to be in the cache still when they are written.
const aheadStep = 256 << 10

// leastAhead is the size in bytes of the smallest buffer that is populated.
const leastAhead = 1 << 20

// ahead populates the pages of buffers just before they are written, each buffer from
// its start to its end. A buffer that is written again has its pages already.
type ahead struct {
	data  []byte
	next  int            // the bytes before have their pages
	known map[*byte]bool // first bytes of all buffers so far
}

// wrote is called with the buffer that is being written and the number of its bytes
// that have been written.
func (a *ahead) wrote(data []byte, done int) {
	if len(data) == 0 {
		return
	}
	if len(a.data) == 0 || &data[0] != &a.data[0] {
		a.start(data)
	}

	// Nothing to do while at least half a step is populated ahead of the writer.
	if done+aheadStep/2 < a.next {
		return
	}

	// Whole pages only: the first may have been populated by the step before.
	from := max(a.next, done)
	a.next = min(from+aheadStep, len(a.data))
	page := os.Getpagesize()
	if from, to := from/page*page, a.next/page*page; len(a.data) >= leastAhead && from < to {
		mem.Populate(a.data[from:to])
	}
}

// start begins a new buffer.
func (a *ahead) start(data []byte) {
	a.data, a.next = data, 0

	// A buffer that was written before is populated as a whole.
	if a.known[&data[0]] {
		a.next = len(data)
	}
	if a.known == nil {
		a.known = map[*byte]bool{}
	}
	a.known[&data[0]] = true
}
