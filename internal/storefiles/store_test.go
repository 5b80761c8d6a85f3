package storefiles

import (
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"symkit/test/buckettest"
)

var keys = []string{"a-b/1/x", "a/1/a.sym", "a/1/b", "a.b/1/x", "c/" + Private + "/d", "e"}

// stores returns a store with files of these keys in a directory and in a bucket, and what stores a file there.
func stores(t *testing.T) (all map[string]*Store, dir string, b *buckettest.Bucket) {
	t.Helper()
	dir, b = t.TempDir(), buckettest.Start(t)
	for _, key := range append([]string{Private + "/x"}, keys...) {
		path := filepath.Join(dir, filepath.FromSlash(key))
		err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(key), 0o666))
		if err != nil {
			t.Fatal(err)
		}
		b.Objects["sym/"+key] = &buckettest.Object{Data: []byte(key), Header: http.Header{}, Modified: time.Now()}
	}
	all = map[string]*Store{}
	for _, at := range []string{dir, "s3://" + buckettest.Name + "/sym"} {
		s, err := Open(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		all[at] = s
	}
	return all, dir, b
}

func list(t *testing.T, s *Store, below string) (found []File) {
	t.Helper()
	for f, err := range s.List(t.Context(), below) {
		if err != nil || f.Err != nil {
			t.Fatal(err, f.Err)
		}
		found = append(found, f)
	}
	return found
}

// TestList: a directory is listed in the order of a bucket, without what servers keep.
func TestList(t *testing.T) {
	all, dir, _ := stores(t)
	want := slices.Sorted(slices.Values(keys))
	for at, s := range all {
		var got []string
		for _, f := range list(t, s, "") {
			got = append(got, f.Key)
			if f.Size != int64(len(f.Key)) || time.Since(f.Modified) > time.Hour {
				t.Errorf("%s: %+v", at, f)
			}
		}
		if !slices.Equal(got, want) || len(list(t, s, "a/1/")) != 2 || len(list(t, s, "nothing/")) != 0 {
			t.Errorf("%s: %q, want %q", at, got, want)
		}
		r, _, err := s.Get(t.Context(), "a/1/b")
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if string(text) != "a/1/b" || err != nil || r.Close() != nil {
			t.Error(text, err)
		}
	}
	_, err := Open(t.Context(), filepath.Join(dir, "nothing"))
	if err == nil {
		t.Error("a directory that does not exist was opened")
	}
}

// TestRemove: only the file that was listed is removed, and directories without files.
func TestRemove(t *testing.T) {
	all, dir, b := stores(t)
	for at, s := range all {
		old := list(t, s, "a/1/")
		store := func(text string) {
			path := filepath.Join(dir, "a", "1", "b")
			b.Lock()
			defer b.Unlock()
			b.Objects["sym/a/1/b"] = &buckettest.Object{Data: []byte(text), Header: http.Header{}, Modified: time.Now()}
			err := os.WriteFile(path+".new", []byte(text), 0o666)
			if err == nil {
				err = os.Rename(path+".new", path)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		store("newer " + at)
		err := s.Remove(t.Context(), old[1])
		if !errors.Is(err, ErrChanged) || len(list(t, s, "a/1/")) != 2 {
			t.Errorf("%s: a file that was replaced: %v", at, err)
		}
		for _, f := range list(t, s, "a/1/") {
			err := errors.Join(s.Remove(t.Context(), f), s.Remove(t.Context(), f))
			if err != nil {
				t.Errorf("%s: %v", at, err)
			}
		}
		if left := list(t, s, "a/"); len(left) > 0 {
			t.Errorf("%s: %v", at, left)
		}
		err = os.MkdirAll(filepath.Join(dir, "a", "1"), 0o777)
		if err != nil && s.IsDir() {
			t.Error(err)
		}
	}
}

// TestAside: a file that a killed process was about to remove gets its name back, unless there is a newer one.
func TestAside(t *testing.T) {
	all, dir, _ := stores(t)
	s := all[dir]
	for key, newer := range map[string]bool{"a/1/b": true, "a-b/1/x": false} {
		place := aside(key)
		if asideOf(place) != key || !IsAside(place) || IsAside(key) || asideOf(".removed") != "" {
			t.Errorf("%s: %s", key, place)
		}
		path := filepath.Join(dir, filepath.FromSlash(place))
		err := os.Rename(filepath.Join(dir, key), path)
		if newer {
			err = errors.Join(err, os.WriteFile(filepath.Join(dir, key), []byte("newer"), 0o666))
		}
		if err != nil {
			t.Fatal(err)
		}
		s.Recover(place)
		text, err := os.ReadFile(filepath.Join(dir, key))
		if _, statErr := os.Lstat(path); statErr == nil || err != nil || (string(text) == "newer") != newer {
			t.Errorf("%s: %q, %v", key, text, err)
		}
	}
}

// TestRemoveRaced: another process replaces a file at every moment of its removal; its file is there in the end.
func TestRemoveRaced(t *testing.T) {
	all, dir, _ := stores(t)
	s := all[dir]
	path := filepath.Join(dir, "a", "1", "b")
	for i := range 300 {
		old := list(t, s, "a/1/")[1]
		done := make(chan error)
		go func() {
			time.Sleep(time.Duration(i%30) * time.Microsecond)
			err := os.WriteFile(filepath.Join(dir, "new"), []byte("newer"), 0o666)
			if err == nil {
				err = os.Rename(filepath.Join(dir, "new"), path)
			}
			done <- err
		}()
		err := s.Remove(t.Context(), old)
		if err != nil && !errors.Is(err, ErrChanged) {
			t.Fatal(err)
		}
		err = <-done
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if string(text) != "newer" || err != nil {
			t.Fatalf("%d: %q, %v", i, text, err)
		}
	}
}
