package demangle

import "strings"

// texts makes strings, many of them in one piece of memory: they are a tenth of
// what a dump allocates, and the collector has less to look at.
type texts struct {
	piece  strings.Builder
	single bool // each string in memory of its own
}

// textPiece is the size of a piece in bytes.
const textPiece = 1 << 18

// add returns b as a string.
func (t *texts) add(b []byte) string {
	if t.single || len(b) > textPiece/4 {
		return string(b)
	}
	from := t.piece.Len()
	if from+len(b) > t.piece.Cap() {
		t.piece.Reset()
		t.piece.Grow(textPiece)
		from = 0
	}
	t.piece.Write(b)
	return t.piece.String()[from:]
}
