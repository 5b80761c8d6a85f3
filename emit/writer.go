package emit

import (
	"errors"
	"io"
)

// errModule: a MODULE record has no OS, no architecture or no debug id of hex digits.
// Symbol stores need these fields as keys.
var errModule = errors.New("MODULE record without OS, architecture or hex id")

// bufSize is the number of bytes that are collected for one Write. The buffer begins with firstSize and
// grows: a batch writes thousands of small files.
const (
	bufSize   = 256 << 10
	firstSize = 8 << 10
)

// Writer writes records as text, in the order of the calls, which must be MODULE, INFO,
// FILE, INLINE_ORIGIN, each FUNC with its INLINE records and lines, PUBLIC, STACK. The first
// failure sticks: later records are dropped, and Flush returns the failure.
//
// To format on several goroutines, append records to a slice on each
// (Record.Append) and pass the slices to Chunk in order.
type Writer struct {
	out io.Writer
	buf []byte
	err error
}

// NewWriter returns a Writer to out. Call Flush at the end.
func NewWriter(out io.Writer) *Writer {
	return &Writer{out: out, buf: make([]byte, 0, firstSize)}
}

// Record writes r. A Module must be complete (errModule).
func (w *Writer) Record(r Record) {
	m, ok := r.(*Module)
	if ok && w.err == nil && (m.OS == "" || m.Arch == "" || !isID(m.ID)) {
		w.err = errModule
	}
	w.keep(r.Append(w.buf))
}

// isID reports whether id is hex digits of either case.
func isID(id string) bool {
	for i := range len(id) {
		if c := id[i] | 0x20; hexValue[c] > 15 {
			return false
		}
	}
	return id != "" && len(id) <= maxWord
}

// Chunk writes text that the Append methods have made. The Writer does not keep text.
func (w *Writer) Chunk(text []byte) {
	if len(text) < bufSize/4 {
		w.keep(append(w.buf, text...))
		return
	}
	w.drain()
	w.write(text)
}

// keep stores the buffer after a record was appended to it.
func (w *Writer) keep(buf []byte) {
	w.buf = buf
	if len(buf) > bufSize-4<<10 {
		w.drain()
	}
}

// drain writes the buffer to out. It releases a buffer that a long record has enlarged.
func (w *Writer) drain() {
	w.write(w.buf)
	if cap(w.buf) > 4*bufSize {
		w.buf = make([]byte, 0, bufSize)
	}
	w.buf = w.buf[:0]
}

// write writes text to out, unless an earlier write failed.
func (w *Writer) write(text []byte) {
	if w.err != nil || len(text) == 0 {
		return
	}

	n, err := w.out.Write(text)
	if err == nil && n < len(text) {
		err = io.ErrShortWrite
	}

	w.err = err
}

// Err returns the first failure of the calls so far. Flush may meet another one.
func (w *Writer) Err() error { return w.err }

// Flush writes the buffered text and returns the first failure of this or any earlier
// call.
func (w *Writer) Flush() error {
	w.drain()
	return w.err
}
