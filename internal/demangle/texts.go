package demangle

import "strings"

// texts makes strings, many of them in one buffer. The strings are a tenth of the bytes
// that a dump allocates, and few large objects are less work for the garbage collector
// than many small ones.
type texts struct {
	buffer strings.Builder
	single bool // each string has its own memory
}

// textBuffer is the size of a buffer in bytes.
const textBuffer = 1 << 18

// add returns b as a string.
func (t *texts) add(b []byte) string {
	if t.single || len(b) > textBuffer/4 {
		return string(b)
	}

	// Strings in a full buffer keep it alive; a new one is begun.
	from := t.buffer.Len()
	if from+len(b) > t.buffer.Cap() {
		t.buffer.Reset()
		t.buffer.Grow(textBuffer)
		from = 0
	}
	t.buffer.Write(b)
	return t.buffer.String()[from:]
}
