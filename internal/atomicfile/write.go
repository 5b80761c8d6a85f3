// Package atomicfile writes files that appear whole or not at all.
package atomicfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// WriteOr is Write, or calls write with stdout if path is empty or "-".
func WriteOr(ctx context.Context, path string, stdout io.Writer, write func(io.Writer) error) error {
	if path == "" || path == "-" {
		return write(stdout)
	}
	return Write(ctx, path, write)
}

// Write replaces the file at path by one whose content the function write writes.
// After an error the file at path is as it was. A device or a pipe at path cannot be
// replaced and is written to instead; opening a pipe blocks until it has a reader or
// ctx is done.
func Write(ctx context.Context, path string, write func(io.Writer) error) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		if info.IsDir() {
			return fmt.Errorf("%s: it is a directory; give the path of a file", path)
		}
		f, err := open(ctx, path, os.O_WRONLY)
		if err != nil {
			return err
		}
		return errors.Join(write(f), f.Close())
	}

	root, err := os.OpenRoot(filepath.Dir(path))
	if e, ok := errors.AsType[*fs.PathError](err); ok && errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w; create the directory first", path, e.Err)
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("%s: %s: %w; give a path in a directory", path, e.Path, e.Err)
	}
	if err != nil {
		return err
	}
	defer root.Close()

	_, err = Publish(root, []string{filepath.Base(path)}, true, write)
	return err
}
