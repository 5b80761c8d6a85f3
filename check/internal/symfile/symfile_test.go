package symfile

import (
	"bytes"
	"testing"

	"symkit/limits"
)

// TestShown checks that text that is not UTF-8 or has control characters is quoted.
func TestShown(t *testing.T) {
	for in, want := range map[string]string{"größe<a>": "größe<a>", "a\x1b[1m": `"a\x1b[1m"`, "a\xff": `"a\xff"`} {
		if got := Shown([]byte(in)); got != want {
			t.Errorf("%q: %s", in, got)
		}
	}
	long := bytes.Repeat([]byte{'x'}, 1000)
	s, err := Parse(Text{Bytes: append([]byte("MODULE Linux x86 0 a\nINFO X "), append(long, '\n')...)}, limits.Limits{}, nil, nil, nil)
	if err != nil || len(s.Text(2)) > MaxShown+len("…") {
		t.Errorf("%v: %d bytes", err, len(s.Text(2)))
	}
}
