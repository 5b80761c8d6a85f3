package debuginfod

import (
	"errors"
	"io"
	"os"

	"symkit/internal/download"
)

// Where the cache cannot be written, as in a container that is read-only or without a home directory,
// or on a full disk, a fetched file has no name, and is there until the process ends.

// ErrNoCache: the environment names no directory for the cache.
var ErrNoCache = errors.New("neither DEBUGINFOD_CACHE_PATH, XDG_CACHE_HOME nor HOME is set")

// maxHeld bounds a file that is kept in memory, in bytes.
const maxHeld = 1 << 30

// heldKey identifies a file without a name.
type heldKey struct {
	id   string
	kind Kind
}

// heldFile is a file without a name.
type heldFile struct {
	*os.File
	url string // without what grants access
}

// held returns the path of a file without a name; empty if there is none.
func (e *entry) held() string {
	e.client.mu.Lock()
	defer e.client.mu.Unlock()
	f, ok := e.client.heldFiles[heldKey{string(e.id), e.kind}]
	if !ok {
		return ""
	}
	return download.PathOf(f.File)
}

// hold keeps an open file without a name.
func (e *entry) hold(file *os.File, url string) {
	c := e.client
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.heldFiles == nil {
		c.heldFiles = map[heldKey]heldFile{}
	}
	key := heldKey{string(e.id), e.kind}
	if old, ok := c.heldFiles[key]; ok { // another goroutine's path may be in use
		file.Close()
		file = old.File
	}
	c.heldFiles[key] = heldFile{file, url}
}

// Source returns the URL of a file without a name that Find returned the path of, without what grants
// access. Other paths are returned as they are.
func (c *Client) Source(path string) string {
	if c == nil {
		return path
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range c.heldFiles {
		if path == download.PathOf(f.File) {
			return f.url
		}
	}
	return path
}

// leave has all files from now on kept without a name. It returns false if that was so before.
func (c *Client) leave(reason error) bool {
	c.mu.Lock()
	before := c.left
	c.left = true
	c.mu.Unlock()
	if before {
		return false
	}
	c.disk.Move(os.TempDir())
	if c.Uncached != nil {
		c.Uncached(reason)
	}
	return true
}

// sink is the file that a download is written into.
type sink struct {
	entry  *entry
	file   *os.File
	named  bool // in the cache
	memory bool
	size   int64
}

// sink opens a file in the cache or, where that cannot be, without a name.
func (e *entry) sink() (*sink, error) {
	c := e.client
	c.mu.Lock()
	left := c.left
	c.mu.Unlock()
	if !left {
		file, err := e.temporary()
		if err == nil {
			return &sink{entry: e, file: file, named: true}, nil
		}
		c.leave(err)
	}
	s := &sink{entry: e}
	return s, s.open()
}

// temporary makes a temporary file beside the entry.
func (e *entry) temporary() (*os.File, error) {
	if e.client.Cache == "" {
		return nil, ErrNoCache
	}
	err := os.MkdirAll(e.dir(), 0o700)
	if err != nil {
		return nil, err
	}
	e.sweep()
	return os.CreateTemp(e.dir(), string(e.kind)+".*")
}

// unwritable returns why nothing can be written into the cache. File systems that are read-only have
// no free space either.
func (e *entry) unwritable() error {
	file, err := e.temporary()
	if err != nil {
		return err
	}
	file.Close()
	return os.Remove(file.Name())
}

// open makes a file without a name.
func (s *sink) open() (err error) {
	s.file, s.memory, err = download.Unnamed()
	s.named = false
	return err
}

// Write writes to the file. A file in the cache that cannot be continued is copied into one without a
// name.
func (s *sink) Write(b []byte) (int, error) {
	s.size += int64(len(b))
	if s.memory && s.size > maxHeld {
		return 0, ErrMaxSize
	}
	n, err := s.file.Write(b)
	full := err
	if full == nil {
		full = s.entry.client.disk.Wrote(int64(n))
	}
	if full == nil || !s.named || errors.Is(full, download.ErrTotal) {
		return n, full
	}

	s.entry.client.leave(full)
	old := s.file
	defer func() {
		old.Close()
		os.Remove(old.Name())
	}()
	_, err = old.Seek(0, io.SeekStart)
	if err != nil {
		return n, err
	}
	err = s.open()
	if err != nil {
		return n, errors.Join(full, err)
	}
	_, err = io.Copy(s.file, old)
	if err != nil {
		return n, err
	}
	rest, err := s.file.Write(b[n:])
	return n + rest, err
}

// finish verifies the file and keeps it, if err is nil.
func (s *sink) finish(err error, url string) error {
	e := s.entry
	if s.file == nil {
		return err
	}
	if !s.named {
		if err == nil {
			err = verify(download.PathOf(s.file), e.id, e.kind)
		}
		if err != nil {
			s.file.Close()
			return err
		}
		e.hold(s.file, url)
		return nil
	}

	// The rename makes the file visible only after it is complete and verified.
	name := s.file.Name()
	defer os.Remove(name) // has no effect after the rename
	closeErr := s.file.Close()
	if err == nil {
		err = closeErr
	}
	if err == nil {
		err = verify(name, e.id, e.kind)
	}
	if err == nil {
		err = os.Rename(name, e.path())
	}
	return err
}
