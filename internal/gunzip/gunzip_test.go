package gunzip

import (
	"bufio"
	"bytes"
	"io"
	"slices"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/gzip"
)

// TestPadding: zero bytes after a stream are padding, also between two; other bytes and a stream that
// ends too soon are errors.
func TestPadding(t *testing.T) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err := w.Write([]byte("text\n"))
	if err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	one, zeros := packed.Bytes(), make([]byte, 5000)
	for name, test := range map[string]struct {
		data []byte
		want string
		ok   bool
	}{
		"none": {one, "text\n", true}, "a zero": {slices.Concat(one, zeros[:1]), "text\n", true}, "zeros": {slices.Concat(one, zeros), "text\n", true},
		"two":           {slices.Concat(one, one), "text\ntext\n", true},
		"zeros between": {slices.Concat(one, zeros, one, zeros), "text\ntext\n", true},
		"text after":    {slices.Concat(one, []byte("text after the stream")), "text\n", false},
		"text at last":  {slices.Concat(one, zeros, []byte("x")), "text\n", false},
		"cut":           {one[:len(one)-1], "text\n", false},
		"a part":        {slices.Concat(one, one[:12]), "text\n", false},
	} {
		for _, r := range []io.Reader{bytes.NewReader(test.data), iotest.OneByteReader(bytes.NewReader(test.data))} {
			z, err := NewReader(r)
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(z)
			if string(got) != test.want || test.ok != (err == nil) {
				t.Errorf("%s: %q, %v", name, got, err)
			}
		}
	}
	if _, err := NewReader(bytes.NewReader(zeros)); err == nil {
		t.Error("zeros alone")
	}
}

// TestEmptyStreams: any number of empty streams is read, also through a bufio.Reader, which gives up
// after a hundred reads of nothing.
func TestEmptyStreams(t *testing.T) {
	var empty, full bytes.Buffer
	w := gzip.NewWriter(&empty)
	err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	w.Reset(&full)
	_, err = w.Write([]byte("text\n"))
	if err != nil || w.Close() != nil {
		t.Fatal(err)
	}

	z, err := NewReader(bytes.NewReader(append(bytes.Repeat(empty.Bytes(), 1000), full.Bytes()...)))
	if err != nil {
		t.Fatal(err)
	}
	got, err := bufio.NewReader(z).ReadString('\n')
	if got != "text\n" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}
