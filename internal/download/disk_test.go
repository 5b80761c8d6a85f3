package download

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
)

func TestDisk(t *testing.T) {
	space := func(free, size uint64) func(string) (uint64, uint64, bool) {
		return func(string) (uint64, uint64, bool) { return free, size, true }
	}
	const mib = 1 << 20
	for _, test := range []struct {
		name     string
		disk     *Disk
		announce int64
		want     error
		wrote    []int64
		then     error // of the last write
	}{
		{"no bounds", &Disk{free: space(2000*mib, 4000*mib)}, 0, nil, []int64{mib, 100 * mib}, nil},
		{"announced too large", &Disk{MaxTotal: 10, free: space(2000*mib, 4000*mib)}, 11, ErrTotal, nil, nil},
		{"all in all too large", &Disk{MaxTotal: 10, free: space(2000*mib, 4000*mib)}, 5, nil, []int64{5, 6}, ErrTotal},
		{"not enough space for the announced size", &Disk{free: space(300*mib, 4000*mib)}, 101 * mib, ErrSpace, nil, nil},
		{"just enough space", &Disk{free: space(300*mib, 4000*mib)}, 100 * mib, nil, nil, nil},
		{"at most 1 GiB stays free", &Disk{free: space(1100*mib, 4000000*mib)}, 76 * mib, nil, nil, nil},
		{"full", &Disk{free: space(100*mib, 4000*mib)}, 0, ErrSpace, []int64{1, 17 * mib}, ErrSpace},
		{"unknown", &Disk{free: func(string) (uint64, uint64, bool) { return 0, 0, false }}, 1 << 40, nil, []int64{1 << 40}, nil},
	} {
		if err := test.disk.Announce(test.announce); !errors.Is(err, test.want) {
			t.Errorf("%s: announced: %v, want %v", test.name, err, test.want)
		}
		for i, n := range test.wrote {
			want := test.then
			if i < len(test.wrote)-1 {
				want = nil
			}
			if err := test.disk.Wrote(n); !errors.Is(err, want) {
				t.Errorf("%s: write %d: %v, want %v", test.name, i, err, want)
			}
		}
	}
}

// TestFreeSpace: a directory that is not there yet is on its parent's file system.
func TestFreeSpace(t *testing.T) {
	free, size, ok := freeSpace(filepath.Join(t.TempDir(), "not", "there"))
	if ok && (size == 0 || free > size) {
		t.Errorf("%d of %d bytes are free", free, size)
	}
}

func TestRedirects(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/end":
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		case "/once":
			http.Redirect(w, r, "/end", http.StatusFound)
		default:
			w.Header().Set("Location", r.URL.Query().Get("to"))
			w.WriteHeader(http.StatusFound)
		}
	}))
	defer s.Close()
	for path, want := range map[string]error{
		"/once": nil, "/loop": ErrRedirect, "/x?to=file:///etc/passwd": ErrRedirect, "/x?to=ftp://127.0.0.1/x": ErrRedirect, "/x?to=/end": nil,
	} {
		r, err := usualHTTP.Get(s.URL + path)
		if !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", path, err, want)
		}
		if err == nil {
			r.Body.Close()
		}
	}
}
