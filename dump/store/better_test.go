package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"symkit/test/buckettest"
)

// quality returns a symbol file with a number of functions.
func quality(functions int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "MODULE Linux x86_64 %s a\n", id)
	for i := range functions {
		fmt.Fprintf(&b, "FUNC %x 10 0 f%d\n", 0x1000+16*i, i)
	}
	return b.String()
}

// TestBetter: a symbol file takes the place of a worse one, never of a better one or of the same bytes, and Why says so.
func TestBetter(t *testing.T) {
	b := buckettest.Start(t)
	dir := t.TempDir()
	for _, opt := range []Options{{Better: true}, {Better: true, Compression: Gzip}, {Better: true, Layout: Unified, Compression: Zstd}} {
		clear(b.Objects)
		inDir := open(t, filepath.Join(dir, fmt.Sprint(opt)), opt)
		inBucket, err := OpenBucket(t.Context(), "s3://"+buckettest.Name, opt)
		if err != nil {
			t.Fatal(err)
		}
		for where, s := range map[string]*Store{"directory": inDir, "bucket": inBucket} {
			for i, test := range []struct {
				functions int
				existed   bool
				why       string
			}{
				{3, false, ""}, {3, true, "the store has this file"}, {2, true, "is better, and stays: the other file has functions for 48 bytes of code, this one for 32 bytes"},
				{5, false, "better than the symbol file in the store: this file has functions for 80 bytes of code, the other one for 48 bytes"}, {3, true, "is better"},
			} {
				size, err := put(t, s, "a", quality(test.functions))
				if err != nil || size.Existed != test.existed || !strings.Contains(size.Why, test.why) || (test.why == "") != (size.Why == "") {
					t.Errorf("%s, %+v, %d: %+v, %v", where, opt, i, size, err)
				}
			}
			if has, err := s.Has([]string{"a/" + id + "/a.sym"}); has || err != nil {
				t.Error("a file counts as one that need not be compared", err)
			}
		}
	}

	// A damaged file goes.
	s := open(t, dir, Options{Better: true})
	path := s.Path("a/" + id + "/a.sym")
	err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte("\x1f\x8bdamaged"), 0o666))
	size, putErr := put(t, s, "a", quality(1))
	if err != nil || putErr != nil || size.Existed || !strings.Contains(size.Why, "cannot be read") {
		t.Error(err, putErr, size)
	}
}

// TestBetterRaced: of many files that are put at the same time, the best stays.
func TestBetterRaced(t *testing.T) {
	b := buckettest.Start(t)
	opt := Options{Better: true}
	inDir := open(t, t.TempDir(), opt)
	inBucket, err := OpenBucket(t.Context(), "s3://"+buckettest.Name, opt)
	if err != nil {
		t.Fatal(err)
	}
	const files = 12
	for where, s := range map[string]*Store{"directory": inDir, "bucket": inBucket} {
		var writers sync.WaitGroup
		for n := range files {
			writers.Go(func() {
				_, err := put(t, s, "a", quality(1+n*7%files))
				if err != nil {
					t.Errorf("%s: %v", where, err)
				}
			})
		}
		writers.Wait()
	}
	text, err := os.ReadFile(inDir.Path("a/" + id + "/a.sym"))
	if err != nil || string(text) != quality(files) || string(b.Objects["a/"+id+"/a.sym"].Data) != quality(files) {
		t.Errorf("%v, %d and %d bytes, want %d", err, len(text), len(b.Objects["a/"+id+"/a.sym"].Data), len(quality(files)))
	}
}
