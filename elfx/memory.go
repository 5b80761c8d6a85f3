package elfx

import (
	"maps"
	"slices"
	"sync"

	"symkit/internal/mem"
)

// memory holds the buffers that a file owns: its inflated sections and copies.
type memory struct {
	mu      sync.Mutex
	buffers map[*mem.Buffer]bool
	minis   []*File // results of DebugData
}

// get returns a buffer of size zero bytes, which is valid until put or release.
func (m *memory) get(size uint64) *mem.Buffer {
	b := mem.NewBuffer(int(size))
	m.mu.Lock()
	defer m.mu.Unlock()

	// A file without inflated sections and copies needs no set.
	if m.buffers == nil {
		m.buffers = map[*mem.Buffer]bool{}
	}
	m.buffers[b] = true
	return b
}

// put releases a buffer, which may be nil.
func (m *memory) put(b *mem.Buffer) {
	m.mu.Lock()
	defer m.mu.Unlock()

	delete(m.buffers, b)
	b.Release()
}

// own makes release close a file.
func (m *memory) own(mini *File) {
	m.mu.Lock()
	defer m.mu.Unlock()

	m.minis = append(m.minis, mini)
}

// release releases all buffers and closes all files.
func (m *memory) release() {
	m.mu.Lock()
	defer m.mu.Unlock()

	mem.ReleaseAll(slices.Collect(maps.Keys(m.buffers)))
	m.buffers = nil
	for _, mini := range m.minis {
		mini.Close() // nothing is mapped for the file, so there is no error
	}
	m.minis = nil
}

// copied returns a copy of data, which aliases the file from file offset off. The
// pages of data are dropped as they are copied.
func (f *File) copied(data []byte, off uint64) []byte {
	// Each step copies some pages and then drops them, so that the section and its copy
	// are never in memory as a whole at the same time.
	out := f.memory.get(uint64(len(data))).Bytes()
	d := dropper{f, off, off + uint64(len(data)), uint64(len(data))}
	for at := 0; at < len(data); at += dropStep {
		n := copy(out[at:min(at+dropStep, len(data))], data[at:])
		d.consumed(at+n, len(data))
	}
	return out
}

// drop returns the whole pages between two file offsets to the system.
func (f *File) drop(from, to uint64) {
	if f.source != nil {
		f.source.Drop(from, to)
	}
}
