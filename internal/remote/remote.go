// Package remote opens the files that https://, http:// and s3:// addresses name.
package remote

import (
	"context"
	"io"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	addresses "symkit/internal/address"
	"symkit/internal/download"
	"symkit/internal/filecache"
	"symkit/internal/filename"
	"symkit/internal/gunzip"
	"symkit/internal/limitof"
	"symkit/internal/objects"
	"symkit/limits"
)

// window is the time in which a server has to send something.
const window = time.Minute

// IsURL reports whether s is an address rather than a path.
func IsURL(s string) bool {
	return objects.IsURL(s) || strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "https://")
}

// File is an open file.
type File struct {
	io.ReadCloser
	Size int64
	// Tag changes with the content; empty if the server has none.
	Tag string
}

// Open opens the file at an address. The error is a filename.Error.
func Open(ctx context.Context, address string) (*File, error) {
	f, err := open(ctx, address)
	_, named := err.(*filename.Error)
	if err != nil && !named {
		err = &filename.Error{Path: Shown(address), Err: err}
	}
	return f, err
}

func open(ctx context.Context, address string) (*File, error) {
	if objects.IsURL(address) {
		r, info, err := objects.GetURL(ctx, address)
		if err != nil {
			return nil, err
		}
		if info.Encoding != "gzip" {
			if strings.HasPrefix(info.Header.Get("Content-Type"), "text/") { // not packed otherwise
				r = verified{download.Verify(r, info.Header), r}
			}
			return &File{r, info.Size, info.ETag}, nil
		}
		text, err := gunzip.NewReader(r)
		if err != nil {
			r.Close()
			return nil, err
		}
		return &File{verified{download.Verify(text, info.Header), r}, -1, info.ETag}, nil
	}
	c := &download.Client{Server: Shown(address), Timeout: window, Header: http.Header{"Accept-Encoding": {"identity"}}} // the size is that of the file
	f, err := c.Open(ctx, addresses.New(address))
	if err != nil {
		return nil, err
	}
	return &File{f, f.Size, f.Tag}, nil
}

// verified is a symbol file that is compared with its metadata while it is read.
type verified struct {
	io.Reader
	io.Closer
}

// Fetch returns the path of a local copy of the file at an address, and a function that
// removes the copy. A path is its own copy. The error is a filename.Error.
func Fetch(ctx context.Context, address string) (local string, remove func(), err error) {
	if !IsURL(address) {
		return address, func() {}, nil
	}
	f, err := Open(ctx, address)
	if err != nil {
		return "", nil, err
	}
	defer f.Close()

	// The copy keeps the file's name, which names modules and results.
	files := &filecache.Cache{Mode: 0o700, MaxTotal: int64(min(limits.Limits{}.Max(limitof.FetchedFiles, 0), math.MaxInt64-1))}
	files.Dir, err = os.MkdirTemp("", "symkit-*")
	if err == nil {
		write := func(w io.Writer) error { _, err := io.Copy(w, f); return err }
		err = files.Put(ctx, Name(address), filecache.Content{Size: f.Size, Write: write})
	}
	remove = func() { os.RemoveAll(files.Dir) }
	if err != nil {
		remove()
		return "", nil, &filename.Error{Path: Shown(address), Err: err}
	}
	return files.Path(Name(address)), remove, nil
}

// Renamed returns err with the address in place of the path of the local copy.
func Renamed(err error, local, address string) error {
	if err == nil || local == address {
		return err
	}
	return &renamed{err, local, Shown(address)}
}

// renamed is an error in whose text a name is in place of a path.
type renamed struct {
	err        error
	path, name string
}

func (e *renamed) Error() string { return strings.ReplaceAll(e.err.Error(), e.path, e.name) }
func (e *renamed) Unwrap() error { return e.err }

// Name returns the name of the file at an address or path.
func Name(address string) string {
	if !IsURL(address) {
		return filepath.Base(address)
	}
	name := addresses.New(address).Name()
	if name == "" || name == "." || name == ".." {
		return "file"
	}
	return name
}

// Shown returns an address, or a path, without what grants access.
func Shown(address string) string { return addresses.New(address).String() }
