package mem

import (
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"
)

// largeBuffer is the size from which a Buffer lies outside of the Go heap.
// There it costs the garbage collector nothing, does not make the next cycle
// wait until the heap has doubled, and is gone at Release.
const largeBuffer = 1 << 20

var pageSize = os.Getpagesize()

// Buffer is bytes that are written once and read until Release.
type Buffer struct {
	data   []byte
	mapped bool
}

// NewBuffer returns a buffer of zero bytes.
func NewBuffer(size int) *Buffer {
	if current == normal && size >= largeBuffer || current == poison && size > 0 {
		if data := mapMemory(size); data != nil {
			return &Buffer{data, true}
		}
	}
	return &Buffer{data: make([]byte, size)}
}

// Bytes returns the buffer's bytes; nil after Release.
func (b *Buffer) Bytes() []byte {
	if b == nil {
		return nil
	}
	return b.data
}

// Discard gives the whole pages in [from, to) back to the system, and reports
// whether bytes were lost. The range must not be read any more.
func (b *Buffer) Discard(from, to uint64) bool {
	switch {
	case b == nil || from >= to || to > uint64(len(b.data)):
		return false
	case b.mapped && current == poison:
		return protect(b.data, from, to)
	case b.mapped:
		return discard(b.data, from, to)
	case current == heap:
		clear(b.data[from:to])
		return true
	}
	return false
}

// Release ends the buffer. Its bytes must not be read or written any more. A second
// Release does nothing.
func (b *Buffer) Release() {
	if b == nil {
		return
	}

	data, mapped := b.data, b.mapped
	b.data, b.mapped = nil, false
	switch {
	case mapped:
		_ = release(data) // fails for bad arguments alone
	case current == heap:
		clear(data)
	}
}

// releaseStep is how many bytes ReleaseAll gives back at a time.
const releaseStep = 8 << 20

// ReleaseAll releases buffers. Large ones give their pages back on all
// processors: at the end of a run on one file the other processors have no
// work.
func ReleaseAll(buffers []*Buffer) {
	var chunks [][]byte
	for _, b := range buffers {
		if b.mapped && len(b.data) >= largeBuffer {
			chunks = slices.AppendSeq(chunks, slices.Chunk(b.data, releaseStep))
		}
	}

	var next atomic.Int64
	var group sync.WaitGroup
	for range min(len(chunks)/2, runtime.GOMAXPROCS(0)) {
		group.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(chunks)); i = next.Add(1) - 1 {
				discard(chunks[i], 0, uint64(len(chunks[i])))
			}
		})
	}
	group.Wait()

	for _, b := range buffers {
		b.Release()
	}
}

// leastPopulated is the size from which slices are populated.
const leastPopulated = 64 << 10

// Populate has the system provide the whole pages of a large slice at once, for a caller
// that is about to write all of it: otherwise each page interrupts the writer.
func Populate[T any](s []T) {
	// The bytes are those of s, and no others; they are used during the call alone.
	data := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(*new(T))))
	if len(data) < leastPopulated {
		return
	}
	skip := int(-address(data) % uintptr(pageSize))
	populate(data[skip : len(data)-(len(data)-skip)%pageSize])
}
