package single

import (
	"bytes"
	"testing"
)

// TestTextBuffer checks that a text is the same however often its buffer had to grow.
func TestTextBuffer(t *testing.T) {
	part := make([]byte, 30_001)
	for i := range part {
		part[i] = byte(i * i)
	}
	text := newTextBuffer(1)
	defer text.release()
	var want []byte
	for range 100 {
		n, err := text.Write(part)
		if n != len(part) || err != nil {
			t.Fatalf("%d bytes written, %v", n, err)
		}
		want = append(want, part...)
	}
	if !bytes.Equal(text.bytes(), want) {
		t.Errorf("the text has %d bytes, want %d, or differs", text.size, len(want))
	}
}
