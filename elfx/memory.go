package elfx

import (
	"maps"
	"slices"
	"sync"

	"symkit/internal/mem"
)

// memory is the buffers that a file owns, for its inflated sections and copies.
type memory struct {
	mu      sync.Mutex
	buffers map[*mem.Buffer]bool
	minis   []*File // opened by DebugData
}

// get returns a buffer of zero bytes that lives until put or release.
func (m *memory) get(size uint64) *mem.Buffer {
	b := mem.NewBuffer(int(size))
	m.mu.Lock()
	defer m.mu.Unlock()

	if m.buffers == nil {
		m.buffers = map[*mem.Buffer]bool{}
	}
	m.buffers[b] = true
	return b
}

// put releases a buffer; nil is none.
func (m *memory) put(b *mem.Buffer) {
	m.mu.Lock()
	defer m.mu.Unlock()

	delete(m.buffers, b)
	b.Release()
}

// own has release close a file.
func (m *memory) own(mini *File) {
	m.mu.Lock()
	defer m.mu.Unlock()

	m.minis = append(m.minis, mini)
}

// release releases all buffers.
func (m *memory) release() {
	m.mu.Lock()
	defer m.mu.Unlock()

	mem.ReleaseAll(slices.Collect(maps.Keys(m.buffers)))
	m.buffers = nil
	for _, mini := range m.minis {
		mini.Close() // nothing is mapped for it: no error
	}
	m.minis = nil
}

// copied returns a copy of bytes that alias the file from offset off, and gives
// their pages back as they are copied.
func (f *File) copied(data []byte, off uint64) []byte {
	out := f.memory.get(uint64(len(data))).Bytes()
	d := dropper{f, off, off + uint64(len(data)), uint64(len(data))}
	for at := 0; at < len(data); at += dropStep {
		n := copy(out[at:min(at+dropStep, len(data))], data[at:])
		d.consumed(at+n, len(data))
	}
	return out
}

// drop gives the whole pages between two offsets of the file back to the
// system.
func (f *File) drop(from, to uint64) {
	if to <= uint64(len(f.data)) {
		f.mapping.Drop(f.start+from, f.start+to)
	}
}
