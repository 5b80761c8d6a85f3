// Package store puts the files of modules where symbol servers and debuggers look for
// them.
//
// It takes a directory, a bucket or a server, a layout, and the identity and content of a file, and publishes
// the file at the paths of the layout. Files appear whole or not at all, and no name, id
// or symbolic link leads out of a directory.
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
	"errors"
	"fmt"
	"io"
)

// Options say how a store keeps its files. On a server, whose protocol decides the rest, only Replace counts.
type Options struct {
	Layout      Layout
	Compression Compression // of symbol files; in layout Unified of all files
	Replace     bool        // replace files that exist
	// Better replaces a symbol file that exists if the new one is better (package check/rank). Other files stay.
	Better bool
}

// Store is an opened store. Its methods may be called from any number of
// goroutines, and any number of processes may put files into one directory.
type Store struct {
	place place
	opt   Options
}

// place is where the files of a store are: a directory, a bucket or a server. Names are slash-separated paths.
type place interface {
	// paths returns the names of a file of m.
	paths(m Module, kind Kind, opt Options) ([]string, error)
	// url returns the path or address of a file for use outside of the store.
	url(name string) string
	// has reports whether all files exist.
	has(names []string) (bool, error)
	// put publishes a file under each of the names.
	put(names []string, kind Kind, opt Options, write func(io.Writer) error) (Size, error)
	// replace publishes a symbol file under a name if decide, which gets the stored bytes of the file that exists, says
	// so, or if none exists.
	replace(name string, opt Options, write func(io.Writer) error, decide func(stored io.Reader) (bool, error)) (Size, error)
	close() error
}

// Close closes the store.
func (s *Store) Close() error { return s.place.close() }

// Paths returns the paths of a file of m, relative to the store's directory. A server that takes no files of this
// kind, where others of the module are enough, has none.
func (s *Store) Paths(m Module, kind Kind) ([]string, error) { return s.place.paths(m, kind, s.opt) }

// Path returns the path of a file in the store for use outside of the store, or the URL
// of an object.
func (s *Store) Path(name string) string { return s.place.url(name) }

// Has reports whether all files exist and are to be kept. If so, Has removes temporary
// files that a killed process left beside them.
//
// An error is an ErrStore, of a bucket or a server alone.
func (s *Store) Has(paths []string) (bool, error) {
	if s.opt.Replace || s.opt.Better {
		return false, nil
	}
	exists, err := s.place.has(paths)
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrStore, err)
	}
	return exists, err
}

// Size is the size of a file in bytes, and whether it is the one that was put.
type Size struct {
	Text   int64 // before compression
	Stored int64 // after compression
	// Existed is set if another process made the file of the first path before.
	Existed bool
	// Why says, with Options.Better, why the symbol file that existed was replaced or, if Existed is set, why it stays.
	// It is empty if none existed.
	Why string
}

// Put publishes a file under each of the paths, which Paths returned for kind. An error
// of the file system names a path; an error that other files would meet too is an
// ErrStore.
func (s *Store) Put(paths []string, kind Kind, write func(io.Writer) error) (size Size, err error) {
	if s.opt.Better && kind == Symbols {
		return s.putBetter(paths, write)
	}
	return s.place.put(paths, kind, s.opt, write)
}

// ErrStore is an error that every further file would meet too.
var ErrStore = errors.New("the store cannot be written")

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
