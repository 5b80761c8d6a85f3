package filecache

import (
	"errors"
	"path/filepath"
	"testing"
)

func TestSpace(t *testing.T) {
	space := func(free, size uint64) func(string) (uint64, uint64, error) {
		return func(string) (uint64, uint64, error) { return free, size, nil }
	}
	const mib = 1 << 20
	for _, test := range []struct {
		name     string
		cache    *Cache
		announce int64
		want     error
		wrote    []int64
		then     error // of the last write
	}{
		{"no bounds", &Cache{statfs: space(2000*mib, 4000*mib)}, 0, nil, []int64{mib, 100 * mib}, nil},
		{"announced too large", &Cache{MaxTotal: 10, statfs: space(2000*mib, 4000*mib)}, 11, ErrTotal, nil, nil},
		{"all in all too large", &Cache{MaxTotal: 10, statfs: space(2000*mib, 4000*mib)}, 5, nil, []int64{5, 6}, ErrTotal},
		{"not enough space for the announced size", &Cache{statfs: space(300*mib, 4000*mib)}, 101 * mib, ErrSpace, nil, nil},
		{"just enough space", &Cache{statfs: space(300*mib, 4000*mib)}, 100 * mib, nil, nil, nil},
		{"at most 1 GiB stays free", &Cache{statfs: space(1100*mib, 4000000*mib)}, 76 * mib, nil, nil, nil},
		{"full", &Cache{statfs: space(100*mib, 4000*mib)}, 0, ErrSpace, []int64{1, 17 * mib}, ErrSpace},
		{"unknown", &Cache{statfs: func(string) (uint64, uint64, error) { return 0, 0, errors.ErrUnsupported }}, 1 << 40, nil, []int64{1 << 40}, nil},
	} {
		if err := test.cache.announce("", test.announce); !errors.Is(err, test.want) {
			t.Errorf("%s: announced: %v, want %v", test.name, err, test.want)
		}
		for i, n := range test.wrote {
			want := test.then
			if i < len(test.wrote)-1 {
				want = nil
			}
			if err := test.cache.wrote("", n); !errors.Is(err, want) {
				t.Errorf("%s: write %d: %v, want %v", test.name, i, err, want)
			}
		}
	}
}

// TestParentSpace: a directory that is not there yet is on its parent's file system.
func TestParentSpace(t *testing.T) {
	dir := t.TempDir()
	want := ErrSpace
	_, _, err := statfs(dir)
	if errors.Is(err, errors.ErrUnsupported) {
		want = nil // the system does not tell: no file is too large
	}
	err = new(Cache).checkSpace(filepath.Join(dir, "not", "there"), 1<<62)
	if !errors.Is(err, want) {
		t.Errorf("%v, want %v", err, want)
	}
}
