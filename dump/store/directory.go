package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"symkit/internal/atomicfile"
	"symkit/internal/storefiles"
)

// directory is the place of a store on this machine.
type directory struct {
	root *os.Root
	dir  string
}

// Open opens the store in dir, and creates dir if it does not exist.
func Open(dir string, opt Options) (*Store, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &Store{&directory{root, dir}, opt}, nil
}

func (d *directory) close() error { return d.root.Close() }

func (d *directory) paths(m Module, kind Kind, opt Options) ([]string, error) {
	paths, err := opt.Layout.paths(m, kind)
	for i := range paths {
		paths[i] += opt.suffix(kind)
	}
	return paths, err
}

func (d *directory) url(name string) string { return filepath.Join(d.dir, filepath.FromSlash(name)) }

func (d *directory) has(names []string) (bool, error) {
	for _, name := range names {
		if info, err := d.root.Stat(name); err != nil || !info.Mode().IsRegular() {
			return false, nil
		}
	}
	for _, name := range names {
		atomicfile.Sweep(d.root, name)
	}
	return true, nil
}

func (d *directory) put(names []string, kind Kind, opt Options, write func(io.Writer) error) (size Size, err error) {
	how := opt.compression(kind)
	// write is called again if the first try does not succeed, so the size starts anew.
	made, err := atomicfile.Publish(d.root, names, opt.Replace, func(w io.Writer) error {
		size = Size{}
		stored := counter{w, &size.Stored}
		return how.compress(stored, func(w io.Writer) error { return write(counter{w, &size.Text}) })
	})
	size.Existed = err == nil && !made
	return size, explain(err)
}

// replace holds the lock of the name, as symserve does, so that the better of two files that are put at the same time stays.
func (d *directory) replace(name string, opt Options, write func(io.Writer) error, decide func(stored io.Reader) (bool, error)) (size Size, err error) {
	unlock, err := storefiles.Lock(d.root, name)
	if err != nil {
		return size, explain(err)
	}
	defer unlock()
	opt.Replace = false
	for range maxRaces {
		old, err := d.root.Open(name)
		if err == nil {
			better, err := decide(old)
			old.Close()
			if err != nil || !better {
				return Size{Existed: true}, err
			}
			opt.Replace = true
		} else if !errors.Is(err, fs.ErrNotExist) {
			return size, explain(err)
		}
		size, err = d.put([]string{name}, Symbols, opt, write)
		if err != nil || !size.Existed {
			return size, err
		}
	}
	return size, errRaced
}

// explain returns err, as an ErrStore if it is not the error of a single file.
func explain(err error) error {
	for _, errno := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EACCES, syscall.EPERM, syscall.EIO} {
		if errors.Is(err, errno) {
			return fmt.Errorf("%w: %w", ErrStore, err)
		}
	}
	return err
}
