package elfx

import (
	"io/fs"
	"os"

	"symkit/internal/filename"
)

// Unchanged returns ErrChanged if the file has been written since Open: the bytes that
// were read can be of two versions. It does not matter if the path has been removed or
// names another file. Files in memory and members of archives do not change.
func (f *File) Unchanged() error {
	return Unchanged(f.path, f.info)
}

// Unchanged is File.Unchanged for both files of an image.
func (img *Image) Unchanged() error {
	if err := img.Main.Unchanged(); err != nil || img.Debug == nil {
		return err
	}
	return img.Debug.Unchanged()
}

// Unchanged returns ErrChanged with the path if the file that was describes is still at
// path and has another size or modification time. If was is nil, the error is nil.
func Unchanged(path string, was fs.FileInfo) error {
	if was == nil {
		return nil
	}

	// A file that was removed or replaced is still mapped, and so unchanged.
	is, err := os.Stat(path)
	if err == nil && os.SameFile(was, is) && (was.Size() != is.Size() || !was.ModTime().Equal(is.ModTime())) {
		return &filename.Error{Path: path, Err: ErrChanged}
	}
	return nil
}
