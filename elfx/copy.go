package elfx

import (
	"errors"
	"fmt"
	"io"
	"syscall"
)

// WriteTo writes the file's bytes to w: of a member of an archive, those of the
// member.
func (f *File) WriteTo(w io.Writer) (n int64, err error) {
	var written int
	var failed error
	err = f.do(func() error {
		written, failed = w.Write(f.data)
		return nil
	})
	switch {
	case err != nil:
	case errors.Is(failed, syscall.EFAULT): // the kernel met the missing page
		err = fmt.Errorf("%s: %w", f.path, ErrChanged)
	default:
		err = failed // not the file's: its path stays out of it
	}
	return int64(written), err
}
