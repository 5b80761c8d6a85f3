package elfx

import "io"

// WriteTo writes the file's bytes to w: of a member of an archive, those of the
// member.
func (f *File) WriteTo(w io.Writer) (n int64, err error) {
	var written int
	var failed error
	err = f.do(func() error {
		written, failed = w.Write(f.data)
		return nil
	})
	if err == nil {
		err = failed // not the file's: its path stays out of it
	}
	return int64(written), err
}
