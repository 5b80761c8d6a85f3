package store

import (
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// Objects keeps the files of a store that is not a directory, such as a bucket of an
// object store.
type Objects interface {
	// Exists reports whether there is an object.
	Exists(name string) (bool, error)
	// Create makes an object, which appears whole or not at all. Unless replace is set,
	// the error for an object that exists is an fs.ErrExist.
	Create(name string, o *Object, replace bool) error
	// URL returns the address of an object.
	URL(name string) string
}

// Object is the content of a file, and what servers send with it.
type Object struct {
	io.ReaderAt
	Length          int64
	ContentType     string
	ContentEncoding string            // "gzip" for a compressed file without a suffix
	Meta            map[string]string // of a symbol file: original_size, original_md5_hash
}

// Size is the length in bytes.
func (o *Object) Size() int64 { return o.Length }

// New returns a store of objects. Files with gzip have no suffix there: servers send
// them with a Content-Encoding.
func New(objects Objects, opt Options) *Store { return &Store{objects: objects, opt: opt} }

// has is Has for a store of objects.
func (s *Store) has(names []string) (bool, error) {
	for _, name := range names {
		exists, err := s.objects.Exists(name)
		if err != nil || !exists {
			return false, err
		}
	}
	return true, nil
}

// create is Put for a store of objects.
func (s *Store) create(paths []string, kind Kind, how Compression, write func(io.Writer) error) (size Size, err error) {
	b := &spool{}
	defer b.Close()
	sum := md5.New()
	err = how.compress(counter{b, &size.Stored}, func(w io.Writer) error {
		return write(counter{io.MultiWriter(w, sum), &size.Text})
	})
	if err != nil {
		return size, err
	}

	o := &Object{ReaderAt: b, Length: size.Stored, ContentType: "application/octet-stream"}
	if kind == Symbols {
		// Mozilla's servers have these names.
		o.ContentType = "text/plain; charset=utf-8"
		o.Meta = map[string]string{
			"original_size": strconv.FormatInt(size.Text, 10), "original_md5_hash": hex.EncodeToString(sum.Sum(nil)),
		}
	}
	switch how {
	case Gzip:
		o.ContentEncoding = "gzip"
	case Zstd:
		o.ContentType = "application/zstd"
	}

	for i, path := range paths {
		err := s.objects.Create(path, o, s.opt.Replace)
		size.Existed = size.Existed || i == 0 && errors.Is(err, fs.ErrExist)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return size, fmt.Errorf("%w: %w", ErrStore, err)
		}
	}
	return size, nil
}

// objectPath returns the path of a file among objects.
func objectPath(path string) string { return strings.TrimSuffix(path, suffixes[Gzip]) }

// memorySpool is how many bytes of a file are kept in memory until they are sent.
const memorySpool = 16 << 20

// spool keeps the bytes written to it: in memory or, above memorySpool bytes, in a temporary file.
type spool struct {
	memory bytes.Buffer
	file   *os.File
}

func (s *spool) Write(p []byte) (int, error) {
	if s.file != nil {
		return s.file.Write(p)
	}
	s.memory.Write(p)
	if s.memory.Len() <= memorySpool {
		return len(p), nil
	}

	// The file has no name, so that it vanishes with the process.
	f, err := os.CreateTemp("", "dump_syms-*.sym")
	if err != nil {
		return 0, err
	}
	_ = os.Remove(f.Name()) // or, where that is not possible, at the end
	s.file = f
	_, err = f.Write(s.memory.Bytes())
	s.memory = bytes.Buffer{}
	return len(p), err
}

// ReadAt implements io.ReaderAt.
func (s *spool) ReadAt(p []byte, at int64) (int, error) {
	if s.file != nil {
		return s.file.ReadAt(p, at)
	}
	return bytes.NewReader(s.memory.Bytes()).ReadAt(p, at)
}

// Close removes the file.
func (s *spool) Close() error {
	if s.file == nil {
		return nil
	}
	return errors.Join(s.file.Close(), ignoreMissing(os.Remove(s.file.Name())))
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
