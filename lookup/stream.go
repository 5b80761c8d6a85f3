package lookup

import (
	"sync"
	"sync/atomic"

	"symkit/elfx"
	"symkit/internal/mem"
)

// stream is a compressed .debug_info that a goroutine inflates: its units are asked for meanwhile. Of several units that
// cover an address the first one holds, so an address in a unit that is there needs nothing of the rest.
type stream struct {
	buffer *mem.Buffer
	stop   atomic.Bool
	mu     sync.Mutex
	more   sync.Cond // done or ended changed
	done   int       // bytes of buffer that are final
	ended  bool      // done stays as it is
	err    error     // why done is not all
}

// leastStreamed is the size in bytes from which .debug_info is streamed, and streamStep how many bytes of it are awaited
// at a time.
var leastStreamed, streamStep = 16 << 20, 2 << 20

// startStream starts to inflate a section. The caller closes the stream.
func startStream(s *elfx.Section, size, jobs int) *stream {
	x := &stream{buffer: mem.NewBuffer(size)}
	x.more.L = &x.mu
	go func() {
		err := s.Stream(jobs, func(buf []byte, done int) (next []byte, kept int) {
			if x.stop.Load() {
				return nil, 0
			}
			x.report(func() { x.done = done })
			return x.buffer.Bytes(), done
		})
		x.report(func() { x.ended, x.err = true, err })
	}()
	return x
}

// report changes what others wait for.
func (x *stream) report(change func()) {
	x.mu.Lock()
	defer x.mu.Unlock()
	change()
	x.more.Broadcast()
}

// wait waits for so many bytes, or the end. It returns all bytes that are there.
func (x *stream) wait(size int) (data []byte, ended bool, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for x.done < size && !x.ended {
		x.more.Wait()
	}
	return x.buffer.Bytes()[:x.done], x.ended, x.err
}

// close ends the stream, and releases its bytes.
func (x *stream) close() {
	x.stop.Store(true)
	x.mu.Lock()
	defer x.mu.Unlock()
	for !x.ended {
		x.more.Wait()
	}
	x.buffer.Release()
}
