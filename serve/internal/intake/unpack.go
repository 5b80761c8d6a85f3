package intake

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"symkit/internal/packing"
	"symkit/serve/internal/depot"
)

var (
	// ErrPacked is the error of packed data that is damaged.
	ErrPacked = errors.New("the packed file is damaged")
	// ErrBomb is the error of packed data that no symbol file packs to.
	ErrBomb = errors.New("the packed file unpacks to more than 256 times its size: no symbol file does")
)

// Packed data may unpack to 64 MiB and 256 bytes for each of its own. Symbol files pack to a tenth, and rarely to a
// thirtieth.
const (
	maxRatio  = 256
	freeBytes = 64 << 20
)

// unpack copies what r has. What begins as gzip or zstd data do is unpacked.
func unpack(w io.Writer, r io.Reader) error {
	source := &sourceError{r: r}
	start := bufio.NewReaderSize(source, 64<<10)
	magic, err := start.Peek(packing.MagicSize)
	if err != nil && err != io.EOF {
		return err
	}
	encoding := string(packing.Of(magic))
	target := &targetError{w: w}
	if encoding != "" {
		target.source = source
	}
	err = depot.Copy(target, start, encoding)
	switch {
	case target.err != nil:
		return target.err
	case source.err != nil:
		return source.err
	case err != nil:
		return fmt.Errorf("%w (%s): %w", ErrPacked, encoding, err)
	}
	return nil
}

// sourceError keeps the error of a reader, and targetError that of a writer, so that they can be told from damage.
type sourceError struct {
	r   io.Reader
	n   int64 // bytes read
	err error
}

func (s *sourceError) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	s.n += int64(n)
	if err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
}

type targetError struct {
	w      io.Writer
	n      int64
	source *sourceError // of packed data, or nil
	err    error
}

func (t *targetError) Write(p []byte) (int, error) {
	if t.source != nil && t.n+int64(len(p)) > freeBytes+maxRatio*t.source.n {
		t.err = ErrBomb
		return 0, ErrBomb
	}
	n, err := t.w.Write(p)
	t.n += int64(n)
	if err != nil {
		t.err = err
	}
	return n, err
}
