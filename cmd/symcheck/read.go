package main

import (
	"errors"
	"io"
	"math"

	"symkit/internal/limits"
)

var errIsDir = errors.New("it is a directory")

func readAll(r io.Reader) ([]byte, error) {
	most := int64(min(limits.CheckInput.Max(0), math.MaxInt64-1))
	data, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(data)) > most {
		err = limits.CheckInput.Exceeded(0)
	}
	return data, err
}
