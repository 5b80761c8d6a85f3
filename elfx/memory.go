package elfx

import (
	"io"
	"maps"
	"slices"
	"sync"

	"symkit/internal/mem"
)

// memory holds the buffers that a file owns: its inflated sections and copies.
type memory struct {
	mu      sync.Mutex
	buffers map[*mem.Buffer]bool
	files   []io.Closer // results of DebugData
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
func (m *memory) own(file io.Closer) {
	m.mu.Lock()
	defer m.mu.Unlock()

	m.files = append(m.files, file)
}

// release releases all buffers and closes all files.
func (m *memory) release() {
	m.mu.Lock()
	defer m.mu.Unlock()

	mem.ReleaseAll(slices.Collect(maps.Keys(m.buffers)))
	m.buffers = nil
	for _, file := range m.files {
		file.Close() // nothing is mapped for the file, so there is no error
	}
	m.files = nil
}
