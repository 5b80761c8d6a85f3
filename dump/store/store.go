// Package store puts the files of modules where symbol servers and debuggers look for
// them.
//
// It takes a directory, a layout, and the identity and content of a file, and publishes
// the file at the paths of the layout. Files appear whole or not at all, and no name, id
// or symbolic link leads out of the directory.
//
//	s, err := store.Open("symbols", store.Options{Compression: store.Gzip})
//	if err != nil {
//		return err
//	}
//	defer s.Close()
//	paths, err := s.Paths(store.Module{Names: []string{m.Name}, ID: m.ID, CodeID: m.CodeID}, store.Symbols)
//	if err != nil {
//		return err
//	}
//	_, err = s.Put(paths, store.Symbols, m.Write) // m is a dump.Module
package store

import (
	"context"
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
	Compression Compression // of symbol files; in layout Unified of all files
	Replace     bool        // replace files that exist
}

// Store is an opened store. Its methods may be called from any number of
// goroutines, and any number of processes may put files into one directory.
type Store struct {
	root    *os.Root
	dir     string
	objects container       // instead of root and dir, or nil
	ctx     context.Context // of the requests of objects
	opt     Options
}

// Open opens the store in dir, and creates dir if it does not exist.
func Open(dir string, opt Options) (*Store, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &Store{root: root, dir: dir, opt: opt}, nil
}

// Close closes the store.
func (s *Store) Close() error {
	if s.objects != nil {
		return nil
	}
	return s.root.Close()
}

// paths returns the paths of a file of m, relative to the store's directory.
func (s *Store) Paths(m Module, kind Kind) ([]string, error) {
	paths, err := s.opt.Layout.paths(m, kind)

	// symbolicator recognises compression by the content, not by the name.
	if s.opt.Layout == Breakpad || s.opt.Layout == GDB && kind <= GSYM {
		for i := range paths {
			paths[i] += suffixes[s.opt.Compression]
			if s.objects != nil {
				paths[i] = objectPath(paths[i])
			}
		}
	}
	return paths, err
}

// Path returns the path of a file in the store for use outside of the store, or the URL
// of an object.
func (s *Store) Path(name string) string {
	if s.objects != nil {
		return s.objects.URL(name)
	}
	return filepath.Join(s.dir, filepath.FromSlash(name))
}

// Has reports whether all files exist and are to be kept. If so, Has removes temporary
// files that a killed process left beside them.
//
// An error is an ErrStore, of a store of objects alone.
func (s *Store) Has(paths []string) (bool, error) {
	if s.opt.Replace {
		return false, nil
	}
	if s.objects != nil {
		exists, err := s.has(paths)
		if err != nil {
			err = fmt.Errorf("%w: %w", ErrStore, err)
		}
		return exists, err
	}
	for _, name := range paths {
		if info, err := s.root.Stat(name); err != nil || !info.Mode().IsRegular() {
			return false, nil
		}
	}

	for _, name := range paths {
		atomicfile.Sweep(s.root, name)
	}
	return true, nil
}

// Size is the size of a file in bytes, and whether it is the one that was put.
type Size struct {
	Text   int64 // before compression
	Stored int64 // after compression
	// Existed is set if another process made the file of the first path before.
	Existed bool
}

// Put publishes a file under each of the paths, which Paths returned for kind. An error
// of the file system names a path; an error that other files would meet too is an
// ErrStore.
func (s *Store) Put(paths []string, kind Kind, write func(io.Writer) error) (size Size, err error) {
	how := None
	if kind <= GSYM || s.opt.Layout == Unified {
		how = s.opt.Compression
	}

	if s.objects != nil {
		return s.create(paths, kind, how, write)
	}

	// write is called again if the first try does not succeed, so the size starts anew.
	made, err := atomicfile.Publish(s.root, paths, s.opt.Replace, func(w io.Writer) error {
		size = Size{}
		stored := counter{w, &size.Stored}
		return how.compress(stored, func(w io.Writer) error { return write(counter{w, &size.Text}) })
	})
	size.Existed = err == nil && !made
	return size, explain(err)
}

// ErrStore is an error that every further file would meet too.
var ErrStore = errors.New("the store cannot be written")

// explain returns err, as an ErrStore if it is not the error of a single file.
func explain(err error) error {
	for _, errno := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EACCES, syscall.EPERM, syscall.EIO} {
		if errors.Is(err, errno) {
			return fmt.Errorf("%w: %w", ErrStore, err)
		}
	}
	return err
}

// counter counts the bytes that are written to w.
type counter struct {
	w io.Writer
	n *int64
}

func (c counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	*c.n += int64(n)
	return n, err
}
