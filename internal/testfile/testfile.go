// Package testfile reads the files tests work on, which are kept packed where
// they are large. Only tests import it.
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

// Read returns the contents of a file. Where path ends in .xz, or only path.xz
// exists, they are unpacked.
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
