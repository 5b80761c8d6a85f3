package symserver

import (
	"cmp"
	"errors"
	"io"
	"os"
	"path/filepath"

	"symkit/internal/download"
	"symkit/internal/mem"
)

// Where the cache cannot be written, as in a container that is read-only or without a home
// directory, a fetched file is kept in a temporary file without a name or, if there can be none,
// in memory, until the process ends.

// held is a file that is kept outside of the cache.
type held struct {
	text   []byte
	source string // its URL, without what grants access
}

// maxHeld bounds a file that is kept in memory, in bytes.
const maxHeld = 1 << 30

// leave has all files from now on kept outside of the cache, whose disk is full. It returns false if
// that was so before.
func (s *Server) leave(reason error) bool {
	s.mu.Lock()
	before := s.left != nil
	if !before {
		s.left = reason
	}
	s.mu.Unlock()
	if !before {
		s.disk().Move(os.TempDir())
	}
	return !before
}

// writable returns why no file can be written to the entry's place in the cache.
func (e entry) writable() error {
	if e.server.Cache == "" {
		return ErrNoCache
	}
	dir := filepath.Dir(e.path())
	err := os.MkdirAll(dir, 0o755)
	if err != nil {
		return err
	}
	probe, err := os.CreateTemp(dir, ".symkit-*")
	if err != nil {
		return err
	}
	err = errors.Join(probe.Close(), os.Remove(probe.Name()))

	// File systems that are read-only have no free space either.
	e.server.mu.Lock()
	defer e.server.mu.Unlock()
	return cmp.Or(err, e.server.left)
}

// hold keeps a file whose first line was read, and calls Uncached with the reason once.
func (e entry) hold(reason error, first []byte, t *text, source string) error {
	data, err := unnamed(first, t)
	if err != nil {
		return err
	}
	s := e.server
	s.mu.Lock()
	told := s.held != nil
	if !told {
		s.held = map[string]held{}
	}
	s.held[e.place] = held{data, source}
	s.mu.Unlock()
	if !told && s.Uncached != nil {
		s.Uncached(reason)
	}
	return nil
}

// unnamed returns the text that follows first, with first, in a file that has no name.
func unnamed(first []byte, rest io.Reader) ([]byte, error) {
	file, _, err := download.Unnamed()
	if err != nil {
		return inMemory(first, rest)
	}
	defer file.Close()

	_, err = file.Write(first)
	if err == nil {
		_, err = io.Copy(file, rest)
	}
	info, statErr := file.Stat()
	err = cmp.Or(err, statErr)
	if err != nil {
		return nil, err
	}
	mapping, err := mem.Map(file, info)
	if err != nil {
		return nil, err
	}
	return mapping.Bytes(), nil
}

func inMemory(first []byte, rest io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(rest, maxHeld+1))
	if err == nil && len(data) > maxHeld {
		err = ErrTooLarge
	}
	if err != nil {
		return nil, err
	}
	return append(first, data...), nil
}
