package storecheck

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"slices"
	"strings"

	"symkit/internal/filename"
	"symkit/internal/objects"
	"symkit/internal/remote"
	"symkit/internal/storefiles"
)

// ErrList is the error for a store whose files cannot be listed: a server, or a bucket without the permission.
var ErrList = errors.New("cannot be listed")

// store is an opened store: a directory or a bucket, or a server.
type store struct {
	at    string            // the directory or the address
	files *storefiles.Store // nil for a server
}

// openStore opens a store for reading.
func openStore(ctx context.Context, at string) (s *store, err error) {
	if !objects.IsURL(at) && remote.IsURL(at) {
		return &store{at: strings.TrimRight(at, "/")}, nil
	}
	s = &store{at: at}
	s.files, err = storefiles.Open(ctx, at)
	return s, err
}

func (s *store) close() {
	if s.files != nil {
		s.files.Close()
	}
}

// isDir reports whether the store is a directory.
func (s *store) isDir() bool { return s.files != nil && s.files.IsDir() }

// place is where a file is.
type place struct {
	storefiles.Place
	err error // why it cannot be listed
}

// list returns the places of all symbol files and ELF files, by their paths.
func (s *store) list(ctx context.Context) (all []place, err error) {
	if s.files == nil {
		return nil, fmt.Errorf("a server %w: give the list of its modules", ErrList)
	}
	for f, err := range s.files.List(ctx, "") {
		if errors.Is(err, fs.ErrNotExist) && !s.isDir() {
			return nil, fmt.Errorf("%w, and so %w: give the list of its modules", err, ErrList)
		}
		if err != nil {
			return nil, err
		}
		p := place{storefiles.PlaceOf(f.Key), f.Err}
		if f.Err != nil {
			p.Kind = storefiles.Symbols // a directory, which costs what is in it
		}
		switch p.Kind {
		case storefiles.Symbols, storefiles.Executable, storefiles.DebugInfo:
			all = append(all, p)
		}
	}
	slices.SortFunc(all, func(a, b place) int { return cmp.Compare(a.Key, b.Key) })
	return all, nil
}

// named returns the places of paths without asking the store.
func named(paths []string) (all []place) {
	for _, path := range paths {
		p := place{Place: storefiles.PlaceOf(path)}
		p.Kind = storefiles.Symbols
		all = append(all, p)
	}
	return all
}

// path returns where a file of the store is, for messages.
func (s *store) path(key string) string {
	if s.isDir() {
		return s.files.Path(key)
	}
	return remote.Shown(s.at + "/" + key)
}

// open opens a file for reading its stored bytes. The header is that of the answer, nil for a directory.
func (s *store) open(ctx context.Context, key string) (io.ReadCloser, http.Header, error) {
	switch {
	case s.files == nil:
		f, err := remote.Open(ctx, s.at+"/"+escaped(key))
		return f, nil, bare(err)
	case s.isDir():
		key = s.find(ctx, key)
	}
	r, header, err := s.files.Get(ctx, key)
	return r, header, bare(err)
}

// find returns the key of a file of a directory, which may have the ending of a packed file.
func (s *store) find(ctx context.Context, key string) string {
	for _, suffix := range append([]string{""}, storefiles.Packed...) {
		r, _, err := s.files.Get(ctx, key+suffix)
		if err == nil {
			r.Close()
			return key + suffix
		}
	}
	return key
}

// bare removes the address from an error of package remote: results have it.
func bare(err error) error {
	e, ok := errors.AsType[*filename.Error](err)
	if ok && e == err {
		return e.Err
	}
	return err
}
