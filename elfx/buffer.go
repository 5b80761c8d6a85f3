package elfx

import (
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"
)

// largeBuffer is the size from which inflated sections live outside of the Go
// heap: there they cost the garbage collector nothing, do not make it wait
// with the next cycle until the heap has doubled, and are gone at Close.
const largeBuffer = 1 << 20

// buffers are the large buffers of one file.
type buffers struct {
	mu   sync.Mutex
	list []buffer
}

type buffer struct {
	data []byte // nil: something else that goes with the file
	free func()
}

// get returns size zero bytes that live until put or release.
func (b *buffers) get(size uint64) []byte {
	if size >= largeBuffer {
		if data, free := anonymous(size); data != nil {
			b.own(buffer{data, free})
			return data
		}
	}
	return make([]byte, size)
}

// find returns the index of a buffer that get returned, -1 for one in the heap.
func (b *buffers) find(data []byte) int {
	return slices.IndexFunc(b.list, func(x buffer) bool { return len(data) > 0 && len(x.data) > 0 && &x.data[0] == &data[0] })
}

// has tells whether data is a whole buffer.
func (b *buffers) has(data []byte) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.find(data) >= 0
}

// put gives a buffer back.
func (b *buffers) put(data []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if i := b.find(data); i >= 0 {
		b.list[i].free()
		b.list = slices.Delete(b.list, i, i+1)
	}
}

// discard gives the whole pages in [from, to) of a buffer back; it reports
// whether the bytes are lost.
func (b *buffers) discard(data []byte, from, to uint64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.find(data) >= 0 && to <= uint64(len(data)) && discard(data, from, to)
}

// aheadStep is how much of a buffer is populated at a time: so little that it is
// in the cache when it is written.
const aheadStep = 256 << 10

// ahead populates a buffer just before it is written, from its start to its end.
type ahead struct {
	data []byte
	next int // what lies before has its pages
}

// wrote is called with the number of bytes that were written.
func (a *ahead) wrote(done int) {
	if done+aheadStep/2 < a.next {
		return
	}
	from := max(a.next, done)
	a.next = min(from+aheadStep, len(a.data))
	populateRange(a.data, from, a.next)
}

// populateRange asks the system for the pages of bytes [from, to) of a buffer: who
// writes them then need not wait for each.
func populateRange(data []byte, from, to int) {
	page := os.Getpagesize()
	if from, to = from/page*page, to/page*page; len(data) >= largeBuffer && from < to {
		populate(data[from:to])
	}
}

// leastPopulated is the size from which slices are populated.
const leastPopulated = 64 << 10

// Populate makes the system provide the pages of a large slice at once, for who is about
// to write all of it.
func Populate[T any](s []T) {
	// The bytes are those of s, and no others; they are used during the call alone.
	data := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(*new(T))))
	if len(data) < leastPopulated {
		return
	}
	page := uintptr(os.Getpagesize())
	if skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(data))) % page); skip < len(data) {
		populate(data[skip : len(data)-(len(data)-skip)%int(page)])
	}
}

// aheadOnce is ahead for buffers that are used again, of which each is populated
// when it is written for the first time.
type aheadOnce struct {
	ahead
	known map[*byte]bool // first bytes of buffers
}

// wrote is called with the buffer that is being written.
func (a *aheadOnce) wrote(data []byte, done int) {
	if len(data) == 0 {
		return
	}
	if len(a.data) == 0 || &data[0] != &a.data[0] {
		a.ahead = ahead{data: data}
		if a.known[&data[0]] {
			a.next = len(data)
		}
		if a.known == nil {
			a.known = map[*byte]bool{}
		}
		a.known[&data[0]] = true
	}
	a.ahead.wrote(done)
}

// NewBuffer returns zero bytes, outside of the Go heap where they are many, until
// FreeBuffer or Close gives them back.
func (f *File) NewBuffer(size int) []byte { return f.buffers.get(uint64(size)) }

// FreeBuffer gives a buffer back, which nobody may touch any more.
func (f *File) FreeBuffer(data []byte) { f.buffers.put(data) }

// String returns bytes of a buffer as a string, which is gone when they are. Nobody may
// write them any more.
func String(data []byte) string {
	return unsafe.String(unsafe.SliceData(data), len(data)) // which are its bytes, and no others
}

// Elements returns the part of a buffer that is aligned for T, as so many of them as fit in.
// What they are before they are written means nothing. T has no pointers: the collector
// does not see them there.
func Elements[T any](data []byte) []T {
	size, align := unsafe.Sizeof(*new(T)), unsafe.Alignof(*new(T))
	at := unsafe.Pointer(unsafe.SliceData(data))
	skip := int(-uintptr(at) % align)
	if skip >= len(data) {
		return nil
	}
	// The elements lie in data[skip:], and end where it does or before.
	return unsafe.Slice((*T)(unsafe.Pointer(&data[skip])), (len(data)-skip)/int(size))
}

// own has put and release free a buffer.
func (b *buffers) own(x buffer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.list = append(b.list, x)
}

// release gives all buffers back.
func (b *buffers) release() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.empty()
	for _, x := range b.list {
		x.free()
	}
	b.list = nil
}

// emptyStep is how many bytes are given back at a time where there are many.
const emptyStep = 8 << 20

// empty gives back the pages of many large buffers on all processors: where one file is
// read the others have no work at its end. Among many files it takes as long as without.
func (b *buffers) empty() {
	var pieces [][]byte
	for _, x := range b.list {
		if len(x.data) >= largeBuffer {
			pieces = slices.AppendSeq(pieces, slices.Chunk(x.data, emptyStep))
		}
	}
	var next atomic.Int64
	var group sync.WaitGroup
	for range min(len(pieces)/2, runtime.GOMAXPROCS(0)) {
		group.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(pieces)); i = next.Add(1) - 1 {
				discard(pieces[i], 0, uint64(len(pieces[i])))
			}
		})
	}
	group.Wait()
}

// copied returns a copy, in a buffer, of bytes that alias the file from offset off,
// and gives their pages back as they are copied.
func (f *File) copied(data []byte, off uint64) []byte {
	out := f.buffers.get(uint64(len(data)))
	d := dropper{f.mapping, off, off + uint64(len(data)), uint64(len(data))}
	for at := 0; at < len(data); at += dropStep {
		n := copy(out[at:min(at+dropStep, len(data))], data[at:])
		d.consumed(at+n, len(data))
	}
	return out
}

// dropStep is how much of a compressed section is read between two calls of
// drop.
const dropStep = 4 << 20

// dropper gives the pages of a mapped section back to the system as they are
// consumed: an inflated section would otherwise count twice. The bytes stay
// readable; they are fetched again.
type dropper struct {
	mapping  *mapping
	from, to uint64 // file offsets of what was not dropped yet
	size     uint64 // of the section in the file
}

// consumed drops what lies before about done/total of the section; at its end
// all of it, since what the estimate dropped too early was fetched again.
func (d *dropper) consumed(done, total int) {
	upto := d.to - d.size + uint64(float64(d.size)*(float64(done)/float64(max(total, 1))))
	switch {
	case done == total:
		d.mapping.drop(d.to-d.size, d.to)
	case upto >= d.from+dropStep:
		d.mapping.drop(d.from, min(upto, d.to))
		d.from = upto
	}
}
