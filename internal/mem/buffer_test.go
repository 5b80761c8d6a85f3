package mem

import (
	"bytes"
	"errors"
	"testing"
)

// in sets the mode until t ends.
func in(t *testing.T, m mode) {
	t.Helper()
	old := current
	current = m
	t.Cleanup(func() { current = old })
}

func TestModeNamed(t *testing.T) {
	for name, want := range map[string]mode{"": normal, "other": normal, "poison": poison, "heap": heap} {
		if got := modeNamed(name); got != want {
			t.Errorf("%q is %d, want %d", name, got, want)
		}
	}
}

// crashes reports whether fn panics under Guard, where a fault of a file is an
// error.
func crashes(t *testing.T, fn func()) (yes bool) {
	t.Helper()
	defer func() { yes = recover() != nil }()
	if err := Guard(func() error { fn(); return nil }); err != nil {
		t.Errorf("a defect of ours is reported as %v", err)
	}
	return false
}

var sink byte

// TestBuffer: buffers of all sizes are zero, can be written, and are gone after
// Release, in every mode.
func TestBuffer(t *testing.T) {
	for _, m := range []mode{normal, poison, heap} {
		in(t, m)
		for _, size := range []int{0, 1, 100, pageSize, 3*pageSize + 5, largeBuffer, largeBuffer + 1} {
			b := NewBuffer(size)
			data := b.Bytes()
			if len(data) != size || bytes.Count(data, []byte{0}) != size {
				t.Fatalf("mode %d: %d bytes of %d", m, len(data), size)
			}
			fill(data)
			b.Release()
			if b.Bytes() != nil {
				t.Errorf("mode %d: bytes after Release", m)
			}
			b.Release()
			switch {
			case size == 0:
			case m == poison:
				if mapMemory(1) != nil && (!crashes(t, func() { sink += data[0] }) || !crashes(t, func() { data[size-1] = 1 })) {
					t.Errorf("%d bytes are accessible after Release", size)
				}
			case m == heap && bytes.Count(data, []byte{0}) != size:
				t.Errorf("%d bytes were not overwritten", size)
			}
		}
	}
	var none *Buffer
	none.Release()
	if none.Bytes() != nil || none.Discard(0, 0) {
		t.Error("no buffer has bytes")
	}
}

func fill(data []byte) {
	for i := range data {
		data[i] = 1
	}
}

// TestDiscard: whole pages are lost, or all bytes where that can be seen, and
// nothing around them.
func TestDiscard(t *testing.T) {
	for _, m := range []mode{normal, poison, heap} {
		in(t, m)
		b := NewBuffer(largeBuffer)
		data := b.Bytes()
		fill(data)
		if b.Discard(5, 5) || b.Discard(0, largeBuffer+1) {
			t.Errorf("mode %d: nothing was to be discarded", m)
		}
		page := uint64(pageSize)
		if !b.Discard(page, 2*page) {
			continue // no memory outside of the heap
		}
		if around := append(bytes.Clone(data[:page]), data[2*page:]...); bytes.Count(around, []byte{1}) != len(around) {
			t.Errorf("mode %d: bytes around are lost", m)
		}
		gone := data[page : 2*page]
		if m == poison && !crashes(t, func() { sink += gone[0] }) || m != poison && bytes.Count(gone, []byte{0}) != len(gone) {
			t.Errorf("mode %d: the bytes are still there", m)
		}
		b.Release()
	}
	in(t, normal)
	if NewBuffer(100).Discard(0, 100) {
		t.Error("the heap keeps its bytes")
	}
}

// TestReleaseAll: buffers are released together as each for itself.
func TestReleaseAll(t *testing.T) {
	for _, m := range []mode{normal, poison, heap} {
		in(t, m)
		buffers := []*Buffer{NewBuffer(3*releaseStep + 1), NewBuffer(largeBuffer), NewBuffer(releaseStep), NewBuffer(10)}
		for _, b := range buffers {
			fill(b.Bytes())
		}
		ReleaseAll(buffers)
		for i, b := range buffers {
			if b.Bytes() != nil {
				t.Errorf("mode %d: buffer %d is not released", m, i)
			}
		}
	}
}

// TestPopulate: of no slice, however it lies in its pages, anything changes.
func TestPopulate(t *testing.T) {
	all := make([]uint32, 1<<18)
	for i := range all {
		all[i] = uint32(i)
	}
	Populate[uint32](nil)
	for from := 0; from < len(all); from += 509 {
		Populate(all[from:])
		Populate(all[:from])
		Populate(all[from:min(from+leastPopulated/4, len(all))])
	}
	for i, x := range all {
		if x != uint32(i) {
			t.Fatalf("element %d is %d", i, x)
		}
	}
	fresh := make([][2]string, 1<<14)
	Populate(fresh)
	for i := range fresh {
		if fresh[i] != [2]string{} {
			t.Fatalf("element %d is %q", i, fresh[i])
		}
	}
}

// TestGuard: errors pass, and so does every panic but the fault of a file.
func TestGuard(t *testing.T) {
	want := errors.New("own")
	if err := Guard(func() error { return Guard(func() error { return want }) }); err != want {
		t.Errorf("error %v", err)
	}
	var none *Mapping
	if !crashes(t, func() { sink += none.data[0] }) {
		t.Error("a nil pointer is a mistake and must panic")
	}
}
