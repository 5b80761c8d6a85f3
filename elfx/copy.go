package elfx

import (
	"errors"
	"fmt"
	"io"
	"syscall"
)

// WriteTo writes the file's bytes to w. For a member of an archive, these are the
// member's bytes.
func (f *File) WriteTo(w io.Writer) (n int64, err error) {
	var written int
	var failed error
	err = f.do(func() error {
		written, failed = w.Write(f.data)
		return nil
	})

	switch {
	case err != nil:
	case errors.Is(failed, syscall.EFAULT): // the kernel read a page that is gone
		err = fmt.Errorf("%s: %w", f.path, ErrChanged)
	default:
		err = failed // an error of w: the file's path does not belong to it
	}
	return int64(written), err
}
