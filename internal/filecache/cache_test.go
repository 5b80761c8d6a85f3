package filecache

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// content is a file with a text.
func content(text string) Content {
	return Content{Source: "https://server/x", Write: func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	}}
}

// left lists the files below a directory.
func left(t *testing.T, dir string) (names []string) {
	t.Helper()
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, path)
		}
		return nil
	})
	return names
}

// read returns the text of a file in a cache.
func read(t *testing.T, c *Cache, name string) string {
	t.Helper()
	text, err := os.ReadFile(c.Path(name))
	if err != nil {
		t.Error(err)
	}
	return string(text)
}

// TestPut: a file appears whole and checked, or not at all.
func TestPut(t *testing.T) {
	c := &Cache{Dir: filepath.Join(t.TempDir(), "cache"), Mode: 0o700}
	wrong := errors.New("wrong")
	for _, failing := range []Content{
		{Write: func(w io.Writer) error { io.WriteString(w, "half"); return wrong }},
		{Write: func(w io.Writer) error { _, err := io.WriteString(w, "whole"); return err }, Check: func(path string) error {
			text, err := os.ReadFile(path)
			if string(text) != "whole" || err != nil || c.Has("a/b") {
				t.Errorf("checked: %q, %v", text, err)
			}
			return wrong
		}},
	} {
		if err := c.Put(t.Context(), "a/b", failing); !errors.Is(err, wrong) || len(left(t, c.Dir)) > 0 || c.Has("a/b") {
			t.Errorf("%v; left %q", err, left(t, c.Dir))
		}
	}
	for _, text := range []string{"first", "second"} {
		if err := c.Put(t.Context(), "a/b", content(text)); err != nil || read(t, c, "a/b") != text || !c.Has("a/b") {
			t.Error(text, err)
		}
	}
	if path := c.Path("a/b"); path != filepath.Join(c.Dir, "a", "b") || c.Source(path) != path || len(left(t, c.Dir)) != 1 {
		t.Error(path, left(t, c.Dir))
	}
	if c.Drop("a/b"); c.Has("a/b") {
		t.Error("a file that was removed")
	}
}

// TestAbsent: an absence has an age; a file is no absence.
func TestAbsent(t *testing.T) {
	c := &Cache{Dir: filepath.Join(t.TempDir(), "cache"), Mode: 0o700}
	if c.Absent("a/b", time.Hour) {
		t.Error("absent before")
	}
	c.SetAbsent("a/b")
	if !c.Absent("a/b", time.Hour) || c.Has("a/b") {
		t.Error("not absent")
	}
	old := time.Now().Add(-2 * time.Hour)
	if err := os.Chtimes(c.Path("a/b"), old, old); err != nil || c.Absent("a/b", time.Hour) {
		t.Error("absent for too long", err)
	}
	c.SetAbsent("a/b")
	if !c.Absent("a/b", time.Hour) {
		t.Error("not absent again")
	}
	if err := c.Put(t.Context(), "a/b", content("text")); err != nil || c.Absent("a/b", time.Hour) {
		t.Error("absent", err)
	}
	c.SetAbsent("a/b")
	if read(t, c, "a/b") != "text" {
		t.Error("a file is lost")
	}
	none := new(Cache)
	if none.Absent("a", time.Hour) || none.Has("a") {
		t.Error("a cache without a directory")
	}
}

// TestFull: a file for which the disk has no room is kept elsewhere; if that turns out late, at the next attempt.
func TestFull(t *testing.T) {
	cache := t.TempDir()
	const large = 100 * checkStep
	for _, announced := range []bool{true, false} {
		var told []error
		c := &Cache{Dir: cache, Mode: 0o700, Uncached: func(err error) { told = append(told, err) }}
		c.statfs = func(dir string) (free, size uint64, err error) {
			if dir == cache {
				return 51 << 20, 1000 << 20, nil // 1 MiB more than stays free
			}
			return 1 << 50, 1 << 50, nil
		}
		x := content("text")
		if announced {
			x.Size = large
		} else {
			x.Write = func(io.Writer) error { return &fs.PathError{Op: "write", Err: syscall.ENOSPC} }
			err := c.Put(t.Context(), "a", x)
			again, ok := errors.AsType[elsewhere](err)
			if !ok || !again.Temporary() || !errors.Is(err, syscall.ENOSPC) || len(told) > 0 {
				t.Errorf("%v, told %v", err, told)
			}
			x = content("text")
		}
		if err := c.Put(t.Context(), "a", x); err != nil || read(t, c, "a") != "text" || len(told) != 1 || len(left(t, cache)) > 0 {
			t.Errorf("%v, told %v, left %q", err, told, left(t, cache))
		}
	}
	c := &Cache{Dir: cache, Mode: 0o700, MaxTotal: 3}
	if err := c.Put(t.Context(), "a", content("text")); !errors.Is(err, ErrTotal) || c.Has("a") {
		t.Error(err)
	}
}
