package main

import (
	"errors"
	"io"
)

var (
	errIsDir   = errors.New("it is a directory")
	errTooLong = errors.New("more than 4 GiB from a pipe")
)

// maxRead bounds what is read of a pipe.
const maxRead int64 = 4 << 30

func readAll(r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxRead+1))
	if err == nil && int64(len(data)) > maxRead {
		err = errTooLong
	}
	return data, err
}
