package debuginfod

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"symkit/internal/address"
	"symkit/internal/download"
)

// download fetches the file from one server. The cache then has the whole, verified
// file, or is unchanged. debuginfod-client removes the temporary file beside the entry if
// this process is killed.
func (e *entry) download(ctx context.Context, server *download.Client, url address.Address) error {
	err := server.Get(ctx, url, func(f *download.File) error {
		err := e.announce(f.Size)
		if err != nil {
			return err
		}

		// Nothing is created in the cache before a server has answered with the file.
		file, err := e.sink()
		if err != nil {
			return err
		}
		_, err = io.Copy(file, f)
		return file.finish(err, url.String())
	})

	refused, ok := errors.AsType[*download.Error](err)
	switch {
	case ok && errors.Is(refused, fs.ErrNotExist):
		return ErrNotFound
	case ok && refused.Status == http.StatusNotAcceptable && e.client.MaxSize > 0:
		return ErrMaxSize
	case errors.Is(err, download.ErrTotal), errors.Is(err, download.ErrSpace):
		return server.Refuse(err)
	}
	return err
}

// announce returns an error if a file of the size would be too much.
func (e *entry) announce(size int64) error {
	err := e.client.disk.Announce(size)
	if errors.Is(err, download.ErrSpace) && e.client.leave(cmp.Or(e.unwritable(), err)) {
		err = e.client.disk.Announce(size)
	}
	return err
}

// abandonedAfter is the age from which a temporary file cannot be in use.
const abandonedAfter = 24 * time.Hour

// sweep removes the temporary files of processes that were killed.
func (e *entry) sweep() {
	left, _ := filepath.Glob(filepath.Join(e.dir(), string(e.kind)+".*")) // the pattern is well formed
	for _, path := range left {
		if info, err := os.Lstat(path); err == nil && time.Since(info.ModTime()) > abandonedAfter {
			_ = os.Remove(path) // fails if another process removed the file
		}
	}
}
