// Package atomicfile writes files that appear whole or not at all.
package atomicfile

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
)

// Write has write make the content of the file at path, which replaces one that
// is there; after an error the file at path is as it was. What is there already
// and is no regular file, a device or a pipe, is written to instead: there is
// nothing to replace. The end of ctx ends the wait for the reader of a pipe.
func Write(ctx context.Context, path string, write func(io.Writer) error) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		f, err := open(ctx, path, os.O_WRONLY)
		if err != nil {
			return err
		}
		return errors.Join(write(f), f.Close())
	}
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer root.Close()
	return Publish(root, []string{filepath.Base(path)}, true, write)
}
