package elfx

import (
	"unsafe"

	"symkit/internal/mem"
)

// What is here serves package dump alone, until it is rewritten. Nothing else
// may use it.

// Deprecated: use mem.Guard.
func Guard(fn func() error) error { return mem.Guard(fn) }

// Deprecated: use mem.Populate.
func Populate[T any](s []T) { mem.Populate(s) }

// NewBuffer returns zero bytes that live until FreeBuffer or Close.
//
// Deprecated: use mem.NewBuffer.
func (f *File) NewBuffer(size int) []byte { return f.memory.get(uint64(size)).Bytes() }

// FreeBuffer releases a buffer of NewBuffer.
//
// Deprecated: use mem.Buffer.
func (f *File) FreeBuffer(data []byte) { f.memory.put(f.memory.find(data)) }

// find returns the buffer with the given bytes, or nil.
func (m *memory) find(data []byte) *mem.Buffer {
	m.mu.Lock()
	defer m.mu.Unlock()
	for b := range m.buffers {
		if bytes := b.Bytes(); len(data) > 0 && len(bytes) > 0 && &bytes[0] == &data[0] {
			return b
		}
	}
	return nil
}

// String returns bytes of a buffer as a string, which is gone when they are.
//
// Deprecated: texts are copied into an arena.
func String(data []byte) string {
	return unsafe.String(unsafe.SliceData(data), len(data)) // which are its bytes, and no others
}

// Elements returns the part of a buffer that is aligned for T, which has no
// pointers, as so many of them as fit in.
//
// Deprecated: use mem.Arena.
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

// Detach returns the bytes of Data for a caller that writes over them; nil where they
// do not lie in memory of their own. They live until Close, and a later Data makes others.
//
// Deprecated: nothing writes over bytes of a section.
func (s *Section) Detach() []byte {
	if !s.Present() || s.parts != nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	data := s.inflated.Bytes()
	if !s.made || s.stale || len(data) == 0 {
		return nil
	}
	s.made, s.inflated = false, nil
	return data
}
