// Package testfile reads the files that tests work on. Large ones are kept packed. Only
// tests import the package.
package testfile

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/ulikunitz/xz"
)

// Read returns the contents of a file. They are unpacked if path ends in .xz, or if only
// path.xz exists.
func Read(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && !strings.HasSuffix(path, ".xz") {
		path += ".xz"
		data, err = os.ReadFile(path)
	}
	if err != nil || !strings.HasSuffix(path, ".xz") {
		return data, err
	}

	r, err := xz.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}
