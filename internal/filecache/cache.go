// Package filecache keeps files from servers: which files there are, and which the servers lack, and since when. A
// file appears whole. Where none can be kept, as in a container that is read-only or without a home directory, or on
// a full disk, files have no name and are there until the process ends.
package filecache

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"symkit/internal/atomicfile"
)

// Cache is a directory. The names of its files are paths below it, with slashes. Fields must not be changed once the
// Cache is used; methods may be called from any number of goroutines.
type Cache struct {
	// Dir is made when it is needed. None is the reason if there is none.
	Dir  string
	None error
	// Mode is that of directories that are made.
	Mode fs.FileMode
	// MaxTotal bounds the bytes of all files that are put into the Cache; 0 is no bound.
	MaxTotal int64
	// Uncached, if not nil, is called with the reason after the first file was kept without a name.
	Uncached func(error)

	written, checked atomic.Int64                                    // bytes, and those at the last look at the file system
	statfs           func(dir string) (free, size uint64, err error) // set by tests

	once sync.Once // Uncached was called
	mu   sync.Mutex
	full error           // why no further files have names
	held map[string]held // by name
}

// maxMemory bounds a file that is kept in memory, in bytes.
const maxMemory = 1 << 30

// held is a file without a name.
type held struct {
	file   *os.File
	source string
}

// Content is a file to be put into a Cache.
type Content struct {
	Source string                  // its address
	Size   int64                   // in bytes; 0 or less if it is not known
	Write  func(w io.Writer) error // writes it
	// Check returns an error if the file at a path, which is complete, is not to be kept.
	Check func(path string) error
}

// Put puts a file into the Cache. If the disk becomes full, the error is a temporary one: there is room for the
// same file elsewhere.
func (c *Cache) Put(ctx context.Context, name string, x Content) error {
	c.mu.Lock()
	reason := c.full
	c.mu.Unlock()
	path := c.path(name)
	if path == "" {
		reason = c.None
	}
	if reason == nil {
		reason = os.MkdirAll(filepath.Dir(path), c.Mode)
	}
	if reason != nil {
		return c.hold(name, x, reason)
	}

	begun := false
	err := atomicfile.Write(ctx, path, func(w io.Writer) error {
		err := c.announce(c.Dir, x.Size)
		if err != nil {
			return err
		}
		begun = true
		return c.fill(w, c.Dir, math.MaxInt64, x)
	})
	full := errors.Is(err, ErrSpace) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
	switch {
	case err == nil, begun && !full, errors.Is(err, ErrTotal):
		return err
	case !begun:
		return c.hold(name, x, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.full = err
	return elsewhere{err}
}

// elsewhere is the error of a file that the disk has no room for. The next attempt has it without a name.
type elsewhere struct{ error }

func (e elsewhere) Unwrap() error { return e.error }
func (elsewhere) Temporary() bool { return true }

// hold keeps a file without a name.
func (c *Cache) hold(name string, x Content, reason error) error {
	dir := os.TempDir()
	err := c.announce(dir, x.Size)
	if err != nil {
		return err
	}
	file, memory, err := atomicfile.Temporary()
	if err != nil {
		return err
	}
	most := int64(math.MaxInt64)
	if memory {
		most = maxMemory
	}
	err = c.fill(file, dir, most, x)
	if err != nil {
		file.Close()
		return err
	}

	c.mu.Lock()
	if c.held == nil {
		c.held = map[string]held{}
	}
	_, ok := c.held[name]
	if ok { // the path may be in use
		file.Close()
	} else {
		c.held[name] = held{file, x.Source}
	}
	c.mu.Unlock()
	if c.Uncached != nil {
		c.once.Do(func() { c.Uncached(reason) })
	}
	return nil
}

// fill writes a file of at most so many bytes into a directory, and checks it.
func (c *Cache) fill(w io.Writer, dir string, most int64, x Content) error {
	err := x.Write(&counted{w, c, dir, most})
	if err == nil && x.Check != nil {
		err = x.Check(atomicfile.Path(w))
	}
	return err
}

// counted counts what is written.
type counted struct {
	io.Writer
	c    *Cache
	dir  string
	left int64 // bytes that there is room for
}

func (w *counted) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	w.left -= int64(n)
	if w.left < 0 {
		err = ErrSpace
	}
	return n, cmp.Or(err, w.c.wrote(w.dir, int64(n)))
}

// path returns the path of a file in the directory, or "" if there is none.
func (c *Cache) path(name string) string {
	if c.Dir == "" {
		return ""
	}
	return filepath.Join(c.Dir, filepath.FromSlash(name))
}

// Path returns the path by which this process can open a file, if there is one.
func (c *Cache) Path(name string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	h, ok := c.held[name]
	if ok {
		return atomicfile.Path(h.file)
	}
	return c.path(name)
}

// Has reports whether there is a file.
func (c *Cache) Has(name string) bool {
	info, err := os.Stat(c.Path(name))
	return err == nil && info.Mode().IsRegular() && info.Size() > 0
}

// Source returns the address of a file without a name that has the path. Other paths are returned as they are.
func (c *Cache) Source(path string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, h := range c.held {
		if path == atomicfile.Path(h.file) {
			return h.source
		}
	}
	return path
}

// Drop removes a file.
func (c *Cache) Drop(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.held, name)
	if c.Dir != "" {
		os.Remove(c.path(name))
	}
}

// SetAbsent records that the servers lack a file, by an empty file of the name mark. If the record cannot be written,
// the next run sends the request again.
func (c *Cache) SetAbsent(mark string) {
	path := c.path(mark)
	if path == "" || os.MkdirAll(filepath.Dir(path), c.Mode) != nil {
		return
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL, 0o666)
	if err == nil {
		f.Close()
		return
	}
	info, err := os.Stat(path)
	if err == nil && info.Size() == 0 { // not a file that another process has stored
		os.Chtimes(path, time.Now(), time.Now())
	}
}

// Absent reports whether SetAbsent was called for mark, at most age ago.
func (c *Cache) Absent(mark string, age time.Duration) bool {
	info, err := os.Stat(c.path(mark))
	return err == nil && info.Mode().IsRegular() && info.Size() == 0 && time.Since(info.ModTime()) <= age
}
