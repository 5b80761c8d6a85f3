package storefiles

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"path"
)

// stripes is the number of files of locks. Keys with one number wait for each other.
const stripes = 64

// Lock locks a key of a store in a directory against other processes that replace files there.
func Lock(root *os.Root, key string) (unlock func(), err error) {
	sum := fnv.New32a()
	_, _ = io.WriteString(sum, key) // never fails
	place := path.Join(Private, "locks", fmt.Sprintf("%02x", sum.Sum32()%stripes))
	f, err := root.OpenFile(place, os.O_RDWR|os.O_CREATE, 0o666)
	if errors.Is(err, fs.ErrNotExist) {
		err = root.MkdirAll(path.Dir(place), 0o777)
		if err == nil {
			f, err = root.OpenFile(place, os.O_RDWR|os.O_CREATE, 0o666)
		}
	}
	if err != nil {
		return nil, err
	}
	err = lockFile(f)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() { _ = f.Close() }, nil // the lock ends with the file
}
