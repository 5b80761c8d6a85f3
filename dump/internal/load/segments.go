package load

import (
	"context"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"symkit/elfx"
	"symkit/internal/dwarfx"
	"symkit/internal/mem"
)

// segment holds some units of .debug_info: bytes that were inflated, or a part of the
// mapped section.
type segment struct {
	data []byte
	at   int  // offset of data in the section
	last bool // no data follows: a unit that is cut short is damage

	users atomic.Int32 // the units that are not done, and 1 while their headers are read
	units []*Unit
	free  func() // called when no user is left; nil if the memory stays
}

// release ends one use of s. The end of the last use frees the memory.
func (s *segment) release() {
	if s.users.Add(-1) > 0 || s.free == nil {
		return
	}

	for _, u := range s.units {
		u.Drop()
	}
	s.free()
}

// Sizes of segments, and of all of them together. Tests make them smaller.
var (
	segmentSize   = 4 << 20
	segmentsBytes = 64 << 20
)

// inflater inflates .debug_info and sends it to a channel in segments. A segment ends
// with a complete unit; the unit that is incomplete at the end of a buffer is copied to
// the start of the next buffer.
type inflater struct {
	ctx       context.Context
	section   *elfx.Section
	size      int
	bigEndian bool
	out       chan<- *segment
	pool      *pool // nil if all segments lie in one buffer, which the caller releases

	buffer *mem.Buffer // inflated into, or nil
	buf    []byte      // its bytes
	at     int         // offset of buf in the section
	from   int         // bytes of buf that were sent
	whole  int         // bytes of buf up to the end of the last complete unit
	next   uint64      // length of the unit after the last complete one; 0 if not known
}

// run inflates the section. It fails if that is damaged or ctx is done.
func (x *inflater) run() error {
	defer close(x.out)
	done := 0
	err := x.section.Stream(1, func(buf []byte, n int) (next []byte, kept int) {
		done = n
		if buf == nil {
			x.use(x.first(), 0)
			return x.buf, 0
		}
		return x.advance(n)
	})

	// A damaged section is worth nothing, so its last buffer is not sent.
	switch {
	case err == nil:
		x.send(done, true)
	case x.pool != nil && x.buffer != nil:
		x.pool.put(x.buffer)
	}
	return err
}

// first returns the first buffer, which without a pool is as large as the section.
func (x *inflater) first() *mem.Buffer {
	switch {
	case x.pool == nil:
		return mem.NewBuffer(x.size)
	case x.size > 2*segmentSize:
		return x.pool.get(x.ctx, segmentSize)
	}
	return x.pool.get(x.ctx, x.size)
}

// use makes b the current buffer, for the bytes of the section from offset at on.
func (x *inflater) use(b *mem.Buffer, at int) {
	x.buffer, x.buf, x.at = b, b.Bytes(), at
}

// advance is called when buf[:done] is inflated. It sends complete units and returns
// the buffer in which the next bytes belong, which begins with the last kept bytes.
func (x *inflater) advance(done int) (next []byte, kept int) {
	end, length := dwarfx.Whole(x.buf[x.whole:done], x.bigEndian)
	x.whole, x.next = x.whole+end, length

	switch {
	case x.pool == nil:
		if x.whole-x.from >= segmentSize {
			x.send(x.whole, false)
		}
		return x.buf, done
	case len(x.buf)-done >= elfx.SlideSpace || x.at+len(x.buf) >= x.size:
		return x.buf, done
	}

	// The next buffer begins with the incomplete unit, and with the bytes that the inflater
	// refers to.
	unit := done - x.whole
	kept = max(unit, min(done, elfx.SlideWindow))
	wanted := kept - unit + int(min(x.next, math.MaxInt/2))
	size := max(kept, wanted) + elfx.SlideSpace
	size = (size + segmentSize - 1) / segmentSize * segmentSize
	at := x.at + done - kept
	b := x.pool.get(x.ctx, min(size, x.size-at))
	copy(b.Bytes(), x.buf[done-kept:done])

	// send gives the old buffer away, so the copy comes first.
	x.send(x.whole, false)
	x.use(b, at)
	x.whole = kept - unit
	x.from = x.whole
	return x.buf, kept
}

// send sends the bytes of buf up to end that were not sent yet. With a pool, the last
// user of the segment returns the buffer to the pool.
func (x *inflater) send(end int, last bool) {
	s := &segment{data: x.buf[x.from:end], at: x.at + x.from, last: last}
	s.users.Store(1)
	if x.pool != nil {
		b := x.buffer
		s.free = func() { x.pool.put(b) }
	}

	x.from = end
	select {
	case x.out <- s:
	case <-x.ctx.Done():
		s.release()
	}
}

// pool holds the buffers that .debug_info is inflated into. A buffer is used again
// once every unit in it was scanned and named.
type pool struct {
	most int // if all buffers had more bytes, get waits

	mu      sync.Mutex
	changed sync.Cond
	all     []*mem.Buffer
	spare   []*mem.Buffer // the buffers that no segment uses
	bytes   int           // of all buffers
}

func newPool() *pool {
	p := &pool{most: segmentsBytes}
	p.changed.L = &p.mu
	return p
}

// get returns a buffer of at least size bytes. If there are many buffers, get blocks
// until one is returned; get never waits for the only buffer in use, which its caller
// may have.
func (p *pool) get(ctx context.Context, size int) *mem.Buffer {
	stop := context.AfterFunc(ctx, p.changed.Broadcast)
	defer stop()
	p.mu.Lock()
	defer p.mu.Unlock()

	for {
		i := slices.IndexFunc(p.spare, func(b *mem.Buffer) bool { return len(b.Bytes()) >= size })
		if i >= 0 {
			b := p.spare[i]
			p.spare = slices.Delete(p.spare, i, i+1)
			return b
		}
		if len(p.all)-len(p.spare) <= 1 || p.bytes+size <= p.most || ctx.Err() != nil {
			break
		}
		p.changed.Wait()
	}

	// The spare buffers are too small, so they are replaced by the new buffer.
	for len(p.spare) > 0 && p.bytes+size > p.most {
		b := p.spare[len(p.spare)-1]
		p.spare = p.spare[:len(p.spare)-1]
		p.all = slices.DeleteFunc(p.all, func(x *mem.Buffer) bool { return x == b })
		p.bytes -= len(b.Bytes())
		b.Release()
	}

	b := mem.NewBuffer(size)
	p.all = append(p.all, b)
	p.bytes += size
	return b
}

// put returns a buffer to the pool.
func (p *pool) put(b *mem.Buffer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.spare = append(p.spare, b)
	p.changed.Broadcast()
}

// release releases all buffers. No segment uses one any more.
func (p *pool) release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	mem.ReleaseAll(p.all)
	p.all, p.spare, p.bytes = nil, nil, 0
}
