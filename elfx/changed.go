package elfx

import (
	"fmt"
	"io/fs"
	"os"
)

// Unchanged returns ErrChanged, behind the path, when the file has been written
// to since it was opened: what was read of it may be of two versions. A file
// that took its place under the path does no harm, nor does its removal. Files
// in memory and members of archives do not change.
func (f *File) Unchanged() error {
	return Unchanged(f.path, f.info)
}

// Unchanged is File.Unchanged for the two files of an image.
func (img *Image) Unchanged() error {
	if err := img.Main.Unchanged(); err != nil || img.Debug == nil {
		return err
	}
	return img.Debug.Unchanged()
}

// Unchanged compares the file at path with what it was, which may be nil for
// nothing to compare with.
func Unchanged(path string, was fs.FileInfo) error {
	if was == nil {
		return nil
	}
	is, err := os.Stat(path)
	if err == nil && os.SameFile(was, is) && (was.Size() != is.Size() || !was.ModTime().Equal(is.ModTime())) {
		return fmt.Errorf("%s: %w", path, ErrChanged)
	}
	return nil
}
