package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
)

// publisher is one method of publishing.
type publisher func(root *os.Root, names []string, replace bool, write func(io.Writer) error) (made bool, err error)

// publishers are the two methods of publishing: where the system has unnamed files,
// and where it has none.
var publishers = map[string]publisher{
	"Publish": Publish,
	"named": func(root *os.Root, names []string, replace bool, write func(io.Writer) error) (bool, error) {
		return publishAll(names, func(name string) error { return publishNamed(root, name, replace, write) })
	},
}

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

// each runs test with both publishers, each in a directory of its own.
func each(t *testing.T, test func(t *testing.T, dir string, root *os.Root, publish func([]string, bool, func(io.Writer) error) error)) {
	for name, publish := range publishers {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			root, err := os.OpenRoot(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer root.Close()
			test(t, dir, root, func(names []string, replace bool, write func(io.Writer) error) error {
				_, err := publish(root, names, replace, write)
				return err
			})
		})
	}
}

// files lists the files below dir and what is in them.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		found[rel] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestPublish(t *testing.T) {
	each(t, func(t *testing.T, dir string, root *os.Root, publish func([]string, bool, func(io.Writer) error) error) {
		names := []string{"a/1/a.sym", "b/1/b.sym", "top"}
		if err := publish(names, false, text("first")); err != nil {
			t.Fatal(err)
		}
		if err := publish(append(names, "c/1/c.sym"), false, text("second")); err != nil {
			t.Fatal(err)
		}
		if err := publish(names[:1], true, text("third")); err != nil {
			t.Fatal(err)
		}
		broken := errors.New("broken")
		for _, name := range []string{"a/1/a.sym", "d/1/d.sym"} {
			err := publish([]string{name}, true, func(w io.Writer) error { return errors.Join(text("half")(w), broken) })
			if !errors.Is(err, broken) {
				t.Errorf("%s: a failing writer: %v", name, err)
			}
		}
		got := files(t, dir)
		for name, want := range map[string]string{"a/1/a.sym": "third", "b/1/b.sym": "first", "top": "first", "c/1/c.sym": "second"} {
			if got[name] != want {
				t.Errorf("%s is %q, want %q", name, got[name], want)
			}
		}
		if len(got) != 4 {
			t.Errorf("files: %v", got)
		}
	})
}

// The error names a directory that has the path; the directory stays, and nothing is left beside it.
func TestPublishOccupied(t *testing.T) {
	each(t, func(t *testing.T, dir string, root *os.Root, publish func([]string, bool, func(io.Writer) error) error) {
		if err := root.MkdirAll("a/a.sym/full", 0o777); err != nil {
			t.Fatal(err)
		}
		if err := root.WriteFile("file", []byte("x"), 0o666); err != nil {
			t.Fatal(err)
		}
		for _, replace := range []bool{false, true} {
			if err := publish([]string{"a/a.sym"}, replace, text("new")); !errors.Is(err, ErrOccupied) {
				t.Errorf("a directory at the path: %v", err)
			}
			if err := publish([]string{"file/a.sym"}, replace, text("new")); err == nil {
				t.Errorf("a file for a directory: no error")
			}
		}
		if got := files(t, dir); len(got) != 1 {
			t.Errorf("files: %v", got)
		}
	})
}

// Symbolic links lead nowhere outside; one that has the name is replaced.
func TestPublishSymlinks(t *testing.T) {
	each(t, func(t *testing.T, dir string, root *os.Root, publish func([]string, bool, func(io.Writer) error) error) {
		outside := t.TempDir()
		target := filepath.Join(outside, "target")
		if err := os.WriteFile(target, []byte("safe"), 0o666); err != nil {
			t.Fatal(err)
		}
		for name, to := range map[string]string{"dir": outside, "up": "../" + filepath.Base(outside), "file": target} {
			if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		for _, name := range []string{"dir/x", "up/x", "dir/target", "../x", "/x", "up/new/x"} {
			if err := publish([]string{name}, true, text("evil")); err == nil {
				t.Errorf("%s: no error", name)
			}
		}
		if err := publish([]string{"file"}, false, text("new")); err == nil {
			t.Errorf("a link out of the tree that stays: no error")
		}
		if err := publish([]string{"file"}, true, text("new")); err != nil {
			t.Errorf("a link with the name: %v", err)
		}
		if got := files(t, outside); len(got) != 1 || got["target"] != "safe" {
			t.Errorf("outside: %v", got)
		}
		if info, err := os.Lstat(filepath.Join(dir, "file")); err != nil || !info.Mode().IsRegular() {
			t.Errorf("the link was not replaced: %v, %v", info, err)
		}
	})
}

// TestPublishMade: of many writers of one file exactly one has made it, and the file is its.
func TestPublishMade(t *testing.T) {
	for method, publish := range publishers {
		root, err := os.OpenRoot(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close()
		for round := range 20 {
			const writers = 8
			name, start := fmt.Sprint("dir/", round), make(chan bool)
			made := make([]bool, writers)
			var all sync.WaitGroup
			for i := range writers {
				all.Go(func() {
					<-start
					is, err := publish(root, []string{name, name + "alias"}, false, text(fmt.Sprint(i)))
					if err != nil {
						t.Error(err)
					}
					made[i] = is
				})
			}
			close(start)
			all.Wait()
			data, err := root.ReadFile(name)
			first := slices.Index(made, true)
			if err != nil || first < 0 || slices.Index(made[first+1:], true) >= 0 || string(data) != fmt.Sprint(first) {
				t.Errorf("%s: %v have made the file, which is that of %s, %v", method, made, data, err)
			}
		}
		if made, err := publish(root, []string{"dir/0"}, true, text("x")); !made || err != nil {
			t.Errorf("%s: %v, %v", method, made, err)
		}
	}
}
