package atomicfile

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// remove removes a file below root. Wine before version 9 removes no files by a handle of
// their directory, as os.Root does.
func remove(root *os.Root, name string) error {
	err := root.Remove(name)
	if errors.Is(err, windows.ERROR_INVALID_FUNCTION) {
		return os.Remove(filepath.Join(root.Name(), filepath.FromSlash(name)))
	}
	return err
}
