// Package store puts the files of modules where symbol servers and debuggers
// look for them: a directory in one of several layouts.
//
// Files appear whole or not at all (internal/atomicfile), and no name, id or
// symbolic link leads out of the directory.
package store

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"symkit/internal/atomicfile"
)

// Options say how a store keeps its files.
type Options struct {
	Layout      Layout
	Compression Compression // of symbol files; with Unified of all
	Replace     bool        // what is there already
}

// Store is an opened store. Its methods may be called from any number of
// goroutines, and any number of processes may put files into one directory.
type Store struct {
	root *os.Root
	dir  string
	opt  Options
}

// Open opens the store in dir, which is made unless it is there.
func Open(dir string, opt Options) (*Store, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &Store{root, dir, opt}, nil
}

// Close closes the store.
func (s *Store) Close() error { return s.root.Close() }

// Paths are where a file of m is put, relative to the store's directory.
func (s *Store) Paths(m Module, kind Kind) ([]string, error) {
	paths, err := s.opt.Layout.Paths(m, kind)
	if s.opt.Layout == Breakpad || s.opt.Layout == GDB && kind == Symbols {
		for i := range paths {
			paths[i] += suffixes[s.opt.Compression]
		}
	}
	return paths, err
}

// Path is the path of a file in the store as others open it.
func (s *Store) Path(name string) string {
	return filepath.Join(s.dir, filepath.FromSlash(name))
}

// Has tells whether all the files are there, and shall stay. If so, it removes
// what a process that was killed left beside them.
func (s *Store) Has(paths []string) bool {
	if s.opt.Replace {
		return false
	}
	for _, name := range paths {
		if info, err := s.root.Stat(name); err != nil || !info.Mode().IsRegular() {
			return false
		}
	}
	for _, name := range paths {
		atomicfile.Sweep(s.root, name)
	}
	return true
}

// Size is how large a file became, in bytes.
type Size struct {
	Text   int64 // as it was written
	Stored int64 // compressed
}

// Put publishes a file under each of the paths, which Paths gave for kind. An
// error of the file system names a path; one that is not that of a single file
// is an ErrStore.
func (s *Store) Put(paths []string, kind Kind, write func(io.Writer) error) (size Size, err error) {
	how := None
	if kind == Symbols || s.opt.Layout == Unified {
		how = s.opt.Compression
	}
	err = atomicfile.Publish(s.root, paths, s.opt.Replace, func(w io.Writer) error {
		size = Size{}
		stored := counter{w, &size.Stored}
		return how.compress(stored, func(w io.Writer) error { return write(counter{w, &size.Text}) })
	})
	return size, explain(err)
}

// ErrStore: the store takes no more files. What comes next will not fare better.
var ErrStore = errors.New("the store cannot be written")

// explain makes an ErrStore of errors that are not one file's.
func explain(err error) error {
	for _, errno := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EACCES, syscall.EPERM, syscall.EIO} {
		if errors.Is(err, errno) {
			return fmt.Errorf("%w: %w", ErrStore, err)
		}
	}
	return err
}

// counter counts the bytes that pass.
type counter struct {
	w io.Writer
	n *int64
}

func (c counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	*c.n += int64(n)
	return n, err
}
