package elfx

import "sync"

// largeBuffer is the size from which inflated sections live outside of the Go
// heap: there they cost the garbage collector nothing, do not make it wait
// with the next cycle until the heap has doubled, and are gone at Close.
const largeBuffer = 1 << 20

// buffers are the large buffers of one file.
type buffers struct {
	mu   sync.Mutex
	free []func()
}

// get returns size zero bytes that live until release.
func (b *buffers) get(size uint64) []byte {
	if size >= largeBuffer {
		if data, free := anonymous(size); data != nil {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.free = append(b.free, free)
			return data
		}
	}
	return make([]byte, size)
}

// release gives all buffers back.
func (b *buffers) release() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, free := range b.free {
		free()
	}
	b.free = nil
}

// dropStep is how much of a compressed section is read between two calls of
// drop.
const dropStep = 16 << 20

// dropper gives the pages of a mapped section back to the system as they are
// consumed: an inflated section would otherwise count twice. The bytes stay
// readable; they are fetched again.
type dropper struct {
	mapping  *mapping
	from, to uint64 // file offsets of what was not dropped yet
	size     uint64 // of the section in the file
}

// consumed drops what lies before about done/total of the section.
func (d *dropper) consumed(done, total int) {
	upto := d.to - d.size + uint64(float64(d.size)*(float64(done)/float64(max(total, 1))))
	if upto > d.from && (upto-d.from >= dropStep || done == total) {
		d.mapping.drop(d.from, min(upto, d.to))
		d.from = upto
	}
}
