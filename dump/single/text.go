package single

import (
	"symkit/internal/mem"
)

// textBuffer keeps the text of a symbol file outside of the Go heap. In the heap, the text
// would delay the next garbage collection until the heap has grown by as much.
type textBuffer struct {
	buffer    *mem.Buffer
	size      int
	populated int // bytes of buffer that have pages
}

// leastText is the least size in bytes of a textBuffer. populateStep is the number of bytes whose
// pages the system provides at a time.
const leastText, populateStep = 64 << 10, 256 << 10

// newTextBuffer returns a buffer for the symbols of files with size bytes. Pages that are
// not written take no memory, and few symbol files are larger than their ELF files.
func newTextBuffer(size uint64) *textBuffer {
	return &textBuffer{buffer: mem.NewBuffer(int(min(max(size, leastText), 1<<28)))}
}

// Write appends p to the text.
func (t *textBuffer) Write(p []byte) (int, error) {
	if len(t.buffer.Bytes())-t.size < len(p) {
		t.grow(len(p))
	}
	if end := t.size + len(p); end > t.populated {
		end = min((end+populateStep-1)/populateStep*populateStep, len(t.buffer.Bytes()))
		mem.Populate(t.buffer.Bytes()[t.populated:end])
		t.populated = end
	}
	t.size += copy(t.buffer.Bytes()[t.size:], p)
	return len(p), nil
}

// grow moves the text to a buffer of twice the size and n bytes. Each old page is discarded
// once it is copied.
func (t *textBuffer) grow(n int) {
	const step = 1 << 20
	larger := mem.NewBuffer(2*t.size + n)
	for at := 0; at < t.size; at += step {
		end := min(at+step, t.size)
		copy(larger.Bytes()[at:], t.buffer.Bytes()[at:end])
		t.buffer.Discard(uint64(at), uint64(end))
	}
	t.buffer.Release()
	t.buffer, t.populated = larger, t.size
}

// bytes returns the text, which is valid until release.
func (t *textBuffer) bytes() []byte { return t.buffer.Bytes()[:t.size] }

// release ends the buffer.
func (t *textBuffer) release() { t.buffer.Release() }
