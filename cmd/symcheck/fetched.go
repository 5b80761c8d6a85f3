package main

import (
	"cmp"
	"context"

	"symkit/internal/remote"
)

// fetched is the local copies of files at addresses.
type fetched struct {
	ctx     context.Context
	copies  map[string]string // address by path of the copy
	removes []func()
}

// get returns the path of a file: of a copy if the file is at an address.
func (f *fetched) get(address string) (path string, err error) {
	path, remove, err := remote.Fetch(f.ctx, address)
	if err != nil {
		return "", err
	}
	if f.copies == nil {
		f.copies = map[string]string{}
	}
	f.copies[path], f.removes = remote.Shown(address), append(f.removes, remove)
	return path, nil
}

// address returns the address of a copy; a path without one is its own.
func (f *fetched) address(path string) string { return cmp.Or(f.copies[path], path) }

// named returns err with addresses in place of the paths of copies.
func (f *fetched) named(err error) error {
	for path, address := range f.copies {
		err = remote.Renamed(err, path, address)
	}
	return err
}

// remove removes the copies.
func (f *fetched) remove() {
	for _, remove := range f.removes {
		remove()
	}
}
