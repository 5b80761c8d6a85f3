package storefiles

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"symkit/internal/filename"
	"symkit/internal/objects"
)

// ErrChanged is the error of Remove for a file that another process has stored meanwhile.
var ErrChanged = errors.New("another process stored the file meanwhile")

// File is a file of a store.
type File struct {
	Key      string
	Size     int64     // of the stored bytes
	Modified time.Time // when it was stored
	Err      error     // why a directory at Key cannot be listed

	tag  string      // of an object
	info fs.FileInfo // of a file of a directory
}

// Store is an opened store in a directory or a bucket. Its methods may be called from any number of goroutines.
type Store struct {
	at     string // the directory or the address
	dir    *directory
	bucket *objects.Bucket
}

// Open opens the store in a directory, which must exist, or at s3://BUCKET/PREFIX.
func Open(ctx context.Context, at string) (*Store, error) {
	s := &Store{at: at}
	if objects.IsURL(at) {
		var err error
		s.bucket, err = objects.Open(ctx, at)
		return s, err
	}
	root, err := os.OpenRoot(at)
	if err != nil {
		return nil, &filename.Error{Path: at, Err: filename.WithoutPath(err)}
	}
	s.dir = &directory{root}
	return s, nil
}

// Close closes the store.
func (s *Store) Close() {
	if s.dir != nil {
		_ = s.dir.root.Close() // nothing was written
	}
}

// IsDir reports whether the store is in a directory.
func (s *Store) IsDir() bool { return s.dir != nil }

// Path returns where a file is, for messages.
func (s *Store) Path(key string) string {
	if s.dir != nil {
		return filepath.Join(s.at, filepath.FromSlash(key))
	}
	return s.bucket.URL(key)
}

// List yields the files whose keys begin with the text below, which ends with a slash unless it is empty: in the order of
// their keys, if the service of the bucket keeps this order. What servers keep for themselves is left out. A directory
// that cannot be listed has a File with an error. The last error is one about the store: an fs.ErrNotExist if the
// credentials do not permit to list a bucket.
func (s *Store) List(ctx context.Context, below string) iter.Seq2[File, error] {
	return func(yield func(File, error) bool) {
		var err error
		if s.dir != nil {
			err = s.dir.list(ctx, below, func(f File) bool { return yield(f, nil) })
		} else {
			err = s.listBucket(ctx, below, func(f File) bool { return yield(f, nil) })
		}
		if err != nil && err != errStopped {
			yield(File{}, err)
		}
	}
}

// errStopped ends a list whose reader wants no more.
var errStopped = errors.New("stopped")

func (s *Store) listBucket(ctx context.Context, below string, yield func(File) bool) error {
	for o, err := range s.bucket.List(ctx, below) {
		if err != nil {
			return err
		}
		if Climbs(o.Key) || isPrivate(o.Key) {
			continue
		}
		if !yield(File{Key: o.Key, Size: o.Size, Modified: o.Modified, tag: o.ETag}) {
			return errStopped
		}
	}
	return nil
}

// Get opens a file for reading its stored bytes. The header is that of the answer, nil for a directory.
func (s *Store) Get(ctx context.Context, key string) (io.ReadCloser, http.Header, error) {
	if s.dir != nil {
		f, err := s.dir.open(key)
		if err != nil {
			return nil, nil, filename.WithoutPath(err)
		}
		return f, nil, nil
	}
	r, info, err := s.bucket.Get(ctx, key)
	return r, info.Header, err
}

// Remove removes a file that List found. The error is ErrChanged if another process has stored one in its place; a file
// that is not there any more is no error. A file of a directory has another name for a moment, in which it is seen
// whether it is the one to remove; Recover finds what a killed process left so.
func (s *Store) Remove(ctx context.Context, f File) error {
	if s.dir != nil {
		return s.dir.remove(f)
	}
	info, err := s.bucket.Stat(ctx, f.Key)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	modified, err := http.ParseTime(info.Header.Get("Last-Modified"))
	if err != nil || info.ETag != f.tag || info.Size != f.Size || !modified.Truncate(time.Second).Equal(f.Modified.Truncate(time.Second)) {
		return ErrChanged
	}
	err = s.bucket.Remove(ctx, f.Key, info)
	if errors.Is(err, objects.ErrChanged) {
		return ErrChanged
	}
	return err
}

// IsAside reports whether a key is that of a file of a directory that a process was about to remove.
func IsAside(key string) bool { return asideOf(key) != "" }

// Recover gives a file its name back that a killed process was about to remove.
func (s *Store) Recover(key string) {
	own := asideOf(key)
	if s.dir != nil && own != "" {
		s.dir.restore(key, own)
	}
}
