package spool

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"testing"
)

func Example() {
	s := &Spool{}
	defer s.Close()
	fmt.Fprint(s, "MODULE Linux x86_64 0 app\n")
	text, err := io.ReadAll(s.Section(7, 5).Open())
	fmt.Printf("%d %s %v\n", s.Size(), text, err)
	// Output: 26 Linux <nil>
}

// TestSpool: bytes come back, from memory and from a file, which is gone at the end.
func TestSpool(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	for _, size := range []int{0, 1, Memory, Memory + 1} {
		data := bytes.Repeat([]byte("symkit "), size/7+1)[:size]
		s := &Spool{}
		for part := data; len(part) > 0; {
			n, err := s.Write(part[:min(len(part), 1<<20)])
			if err != nil {
				t.Fatal(err)
			}
			part = part[n:]
		}
		if (s.file != nil) != (size > Memory) || s.Size() != int64(size) {
			t.Errorf("%d bytes: %d, in a file: %v", size, s.Size(), s.file != nil)
		}
		for range 2 {
			got, err := io.ReadAll(s.Section(0, s.Size()).Open())
			if err != nil || !bytes.Equal(got, data) {
				t.Errorf("%d bytes: %d, %v", size, len(got), err)
			}
		}
		err := s.Close()
		if err != nil {
			t.Error(err)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) > 0 {
		t.Errorf("left: %v, %v", entries, err)
	}
}

// TestNoSpace: an error of the temporary file is one of Write.
func TestNoSpace(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir()+"/none")
	s := &Spool{}
	_, err := s.Write(make([]byte, Memory+1))
	if err == nil {
		t.Error("a file in a directory that does not exist")
	}
}
