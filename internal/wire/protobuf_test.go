package wire_test

import (
	"testing"

	"symkit/internal/wire"
)

// TestField reads a field of each type (Protocol Buffers, "Encoding", "Message Structure").
func TestField(t *testing.T) {
	c := wire.New("message", []byte("\x08\x96\x01\x12\x02hi\x19\x01\x00\x00\x00\x00\x00\x00\x80\x25\x02\x00\x00\x00\x2b"), false)
	for i, want := range []struct {
		number, value uint64
		text          string
	}{{1, 150, ""}, {2, 0, "hi"}, {3, 1<<63 | 1, ""}, {4, 2, ""}} {
		f := c.Field()
		if f.Number != want.number || f.Value != want.value || f.Text() != want.text || c.Err() != nil {
			t.Errorf("field %d: %d, %d, %q, %v", i, f.Number, f.Value, f.Text(), c.Err())
		}
	}
	c.Field() // a group
	if c.Err() == nil || c.Err().Error() != "message+0x15: unknown type of a field" {
		t.Error(c.Err())
	}
}
