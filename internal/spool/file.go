package spool

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"symkit/internal/atomicfile"
	"symkit/internal/mem"
	"symkit/internal/quantity"
)

// ErrTooLarge: more bytes were written than the file may have.
var ErrTooLarge = errors.New("too large")

// A File is a temporary file without a name, which vanishes with the process. Its methods are called by one goroutine,
// but for ReadAt.
type File struct {
	f    *os.File
	name string // empty: none
	size int64
	most int64
}

// NewFile makes a file of at most a number of bytes in a directory, which must exist; "" is that of temporary files.
func NewFile(dir string, most int64) (*File, error) {
	f, err := unnamed(cmp.Or(dir, os.TempDir()))
	if err == nil {
		return &File{f: f, most: most}, nil
	}
	f, err = os.CreateTemp(dir, "symkit-*.spool")
	if err != nil {
		return nil, err
	}
	_ = os.Remove(f.Name()) // or, where open files cannot be removed, in Close
	return &File{f: f, name: f.Name(), most: most}, nil
}

// Write implements io.Writer. The error of a file that becomes too large is an ErrTooLarge.
func (s *File) Write(p []byte) (int, error) {
	if int64(len(p)) > s.most-s.size {
		return 0, fmt.Errorf("%w: more than %s", ErrTooLarge, quantity.Bytes(s.most))
	}
	n, err := s.f.WriteAt(p, s.size)
	s.size += int64(n)
	return n, err
}

// ReadAt implements io.ReaderAt.
func (s *File) ReadAt(p []byte, at int64) (int, error) { return s.f.ReadAt(p, at) }

// Size returns the number of bytes that were written.
func (s *File) Size() int64 { return s.size }

// Reader returns a reader of the whole file.
func (s *File) Reader() *io.SectionReader { return io.NewSectionReader(s.f, 0, s.size) }

// Path returns the path by which this process can open the file.
func (s *File) Path() string { return atomicfile.Path(s.f) }

// Map maps the file. The bytes are read under mem.Guard.
func (s *File) Map() (*mem.Mapping, error) { return mem.Open(s.Path()) }

// Close removes the file. It may be called twice.
func (s *File) Close() error {
	err := s.f.Close()
	if errors.Is(err, os.ErrClosed) {
		return nil
	}
	if s.name == "" {
		return err
	}
	gone := os.Remove(s.name)
	if errors.Is(gone, fs.ErrNotExist) {
		gone = nil
	}
	return errors.Join(err, gone)
}
