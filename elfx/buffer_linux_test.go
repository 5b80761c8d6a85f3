package elfx

import (
	"bytes"
	"os"
	"testing"
)

// TestEmpty: of all large buffers every page is given back, and nothing of the others.
func TestEmpty(t *testing.T) {
	var b buffers
	defer b.release()
	b.own(buffer{free: func() {}})
	large := [][]byte{b.get(3*emptyStep + 1), b.get(largeBuffer), b.get(emptyStep)}
	small := b.get(largeBuffer - 1)
	for _, data := range append(large, small) {
		for i := range data {
			data[i] = 1
		}
	}
	b.empty()
	page := os.Getpagesize()
	for _, data := range large {
		if whole := data[:len(data)/page*page]; bytes.Count(whole, []byte{0}) != len(whole) {
			t.Errorf("of %d bytes some are still there", len(data))
		}
	}
	if bytes.Count(small, []byte{1}) != len(small) {
		t.Error("a small buffer has changed")
	}
}
