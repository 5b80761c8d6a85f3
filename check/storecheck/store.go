package storecheck

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"symkit/internal/filename"
	"symkit/internal/objects"
	"symkit/internal/remote"
)

// ErrList is the error for a store whose files cannot be listed: a server, or a bucket without the permission.
var ErrList = errors.New("cannot be listed")

// store is an opened store: a directory, a bucket or a server.
type store struct {
	at     string // the directory or the address
	root   *os.Root
	bucket *objects.Bucket
}

// openStore opens a store for reading.
func openStore(ctx context.Context, at string) (s *store, err error) {
	s = &store{at: at}
	switch {
	case objects.IsURL(at):
		s.bucket, err = objects.Open(ctx, at)
	case remote.IsURL(at):
		s.at = strings.TrimRight(at, "/")
	default:
		s.root, err = os.OpenRoot(at)
		if err != nil {
			err = &filename.Error{Path: at, Err: filename.WithoutPath(err)}
		}
	}
	return s, err
}

func (s *store) close() {
	if s.root != nil {
		_ = s.root.Close() // nothing was written
	}
}

// list returns the places of all files of known layouts, by their paths.
func (s *store) list(ctx context.Context) (all []place, err error) {
	add := func(key string, err error) {
		p := placeOf(key)
		if err != nil {
			p.kind, p.err = symbols, err
		}
		if p.kind != other {
			all = append(all, p)
		}
	}
	switch {
	case s.root != nil:
		err = s.walk(ctx, add)
	case s.bucket != nil:
		err = s.listBucket(ctx, add)
	default:
		err = fmt.Errorf("a server %w: give the list of its modules", ErrList)
	}
	slices.SortFunc(all, func(a, b place) int { return cmp.Compare(a.key, b.key) })
	return all, err
}

// walk lists a directory. Symbolic links to files in the directory count, those to directories are not followed.
func (s *store) walk(ctx context.Context, add func(key string, err error)) error {
	return fs.WalkDir(s.root.FS(), ".", func(key string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil && key == ".":
			return &filename.Error{Path: s.at, Err: filename.WithoutPath(err)}
		case err != nil:
			add(key, filename.WithoutPath(err)) // a directory, which costs what is in it
		case d.IsDir() && key == private:
			return fs.SkipDir
		case d.Type()&fs.ModeSymlink != 0:
			info, err := s.root.Stat(key)
			if err == nil && info.Mode().IsRegular() {
				add(key, nil)
			}
		case d.Type().IsRegular():
			add(key, nil)
		}
		return nil
	})
}

// listBucket lists a bucket.
func (s *store) listBucket(ctx context.Context, add func(key string, err error)) error {
	for key, err := range s.bucket.List(ctx) {
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%w, and so %w: give the list of its modules", err, ErrList)
		}
		if err != nil {
			return err
		}
		if !climbs(key) {
			add(key, nil)
		}
	}
	return nil
}

// named returns the places of paths without asking the store.
func named(paths []string) (all []place) {
	for _, path := range paths {
		p := placeOf(path)
		p.kind = symbols
		all = append(all, p)
	}
	return all
}

// path returns where a file of a store is, for messages.
func (s *store) path(key string) string {
	if s.root != nil {
		return filepath.Join(s.at, filepath.FromSlash(key))
	}
	return remote.Shown(s.at + "/" + key)
}

// open opens a file for reading its stored bytes. The header is that of the answer, nil for a directory.
func (s *store) open(ctx context.Context, key string) (io.ReadCloser, http.Header, error) {
	switch {
	case s.bucket != nil:
		r, info, err := s.bucket.Get(ctx, key)
		return r, info.Header, bare(err)
	case s.root == nil:
		f, err := remote.Open(ctx, s.at+"/"+escaped(key))
		return f, nil, bare(err)
	}
	path, err := s.find(key)
	if err != nil {
		return nil, nil, err
	}
	f, err := os.Open(path)
	return f, nil, filename.WithoutPath(err)
}

// find returns the path of a regular file of a directory. The file may have the ending of a packed file.
func (s *store) find(key string) (path string, err error) {
	for _, suffix := range append([]string{""}, packed...) {
		info, statErr := s.root.Stat(filepath.FromSlash(key + suffix))
		switch {
		case statErr == nil && info.Mode().IsRegular():
			return s.path(key + suffix), nil
		case statErr == nil:
			statErr = errNotRegular
		}
		err = cmp.Or(err, filename.WithoutPath(statErr))
	}
	return "", err
}

var errNotRegular = errors.New("not a regular file")

// bare removes the address from an error of package remote: results have it.
func bare(err error) error {
	e, ok := errors.AsType[*filename.Error](err)
	if ok && e == err {
		return e.Err
	}
	return err
}
