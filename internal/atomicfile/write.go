// Package atomicfile writes files that appear whole or not at all.
package atomicfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
)

// Write has write make the content of the file at path, which replaces one that
// is there; after an error the file at path is as it was. What is there already
// and is no regular file, a device or a pipe, is written to instead: there is
// nothing to replace.
func Write(path string, write func(io.Writer) error) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
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
