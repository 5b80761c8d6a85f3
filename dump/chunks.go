package dump

import (
	"iter"
	"sync"

	"symkit/elfx"
	"symkit/emit"
)

// chunkBytes is more than most chunks have of text.
const chunkBytes = 640 << 10

// room is how much a buffer for chunks should have at first: small modules are many.
func (m *Module) room() int {
	s := &m.Stats
	const record, fde = 64, 512 // bytes of text, about
	return min(chunkBytes, record*(s.Funcs+s.Lines+2*s.Inlines+s.Publics)+fde*s.FDEs)
}

// chunkWriter writes chunks in their order. Each goroutine formats the next one that
// nobody has. Who has formatted the one whose turn it is writes it, and what is ready
// behind it; the others leave theirs and go on. So there are never more goroutines at
// work than there should be, and one that is waited for holds up the others only when
// all places are taken.
type chunkWriter struct {
	w    *emit.Writer
	room int // of a new buffer

	mu      sync.Mutex
	more    sync.Cond // anything below changed
	next    func() (chunk, bool)
	taken   int // chunks that somebody has, or had
	written int
	writing bool     // somebody writes
	ready   [][]byte // formatted chunks, by number modulo its length; nil: not yet
	spare   [][]byte // buffers
	err     error    // the first
}

// chunksAhead is how many chunks each goroutine may be ahead of what is written.
const chunksAhead = 4

// writeChunks writes the records of all origins, functions, publics and unwind
// rules, formatted on as many goroutines as the module was dumped with.
func (m *Module) writeChunks(w *emit.Writer) error {
	jobs := max(m.jobs, 1)
	next, stop := iter.Pull(m.chunks())
	defer stop()
	x := &chunkWriter{w: w, room: m.room(), next: next, ready: make([][]byte, chunksAhead*jobs)}
	x.more.L = &x.mu
	var workers sync.WaitGroup
	for range jobs {
		workers.Go(x.work)
	}
	workers.Wait()
	return x.err
}

// work formats chunks until there are no more.
func (x *chunkWriter) work() {
	x.mu.Lock()
	defer x.mu.Unlock()
	for {
		for x.err == nil && x.taken-x.written == len(x.ready) {
			x.more.Wait()
		}
		if x.err != nil {
			return
		}
		c, ok := x.next()
		if !ok {
			return
		}
		number := x.taken
		x.taken++
		text := x.buffer()
		x.unlocked(func() error {
			text = c(text)
			return nil
		})
		x.ready[number%len(x.ready)] = text
		if !x.writing {
			x.write()
		}
	}
}

// unlocked does something while mu is not held, and keeps its error: that a file
// changed, perhaps.
func (x *chunkWriter) unlocked(do func() error) {
	x.mu.Unlock()
	defer x.mu.Lock()
	if err := elfx.Guard(do); err != nil {
		x.fail(err)
	}
}

// fail ends the work of all.
func (x *chunkWriter) fail(err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.err == nil {
		x.err = err
	}
	x.more.Broadcast()
}

// buffer returns memory for the text of a chunk.
func (x *chunkWriter) buffer() []byte {
	last := len(x.spare) - 1
	if last < 0 {
		return make([]byte, 0, x.room)
	}
	buf := x.spare[last] // which is in the cache still
	x.spare = x.spare[:last]
	return buf[:0]
}

// write writes the chunks whose turn it is.
func (x *chunkWriter) write() {
	x.writing = true
	for x.err == nil {
		place := &x.ready[x.written%len(x.ready)]
		text := *place
		if text == nil {
			break
		}
		x.unlocked(func() error {
			x.w.Chunk(text)
			return x.w.Flush()
		})
		*place = nil
		x.written++
		x.spare = append(x.spare, text)
		x.more.Broadcast()
	}
	x.writing = false
}
