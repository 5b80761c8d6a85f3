package store

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"math"

	"symkit/check/rank"
	"symkit/internal/mem"
	"symkit/internal/packing"
	"symkit/internal/spool"
)

// maxStored bounds the text of a stored symbol file that is ranked, in bytes.
const maxStored = 4 << 30

// errRaced: other processes keep replacing a file.
var errRaced = errors.New("other processes keep replacing the file")

// maxRaces is how often a decision is made anew because another process has replaced the file meanwhile.
const maxRaces = 16

// putBetter puts a symbol file where there is none, or a worse one.
func (s *Store) putBetter(paths []string, write func(io.Writer) error) (size Size, err error) {
	text, err := spool.NewFile("", math.MaxInt64)
	if err != nil {
		return size, err
	}
	defer text.Close()
	err = write(text)
	if err != nil {
		return size, err
	}
	sent, err := text.Map()
	if err != nil {
		return size, err
	}
	defer sent.Release()
	again := func(w io.Writer) error {
		_, err := w.Write(sent.Bytes())
		return err
	}
	for i, name := range paths {
		why := ""
		one, err := s.place.replace(name, s.opt, again, func(stored io.Reader) (better bool, err error) {
			better, why, err = compare(sent.Bytes(), stored)
			return better, err
		})
		if err != nil {
			return size, err
		}
		if i == 0 {
			size = one
			size.Why = why
		}
	}
	return size, nil
}

// compare compares a symbol file with the stored bytes of another one. The error is that of reading these.
func compare(sent []byte, stored io.Reader) (better bool, why string, err error) {
	text, err := spool.NewFile("", maxStored)
	if err != nil {
		return false, "", err
	}
	defer text.Close()
	from := &source{r: stored}
	err = copyText(text, from)
	if from.err != nil {
		return false, "", from.err
	}
	if err != nil || text.Size() == 0 {
		return true, "the symbol file in the store cannot be read", nil
	}
	old, err := text.Map()
	if err != nil {
		return false, "", err
	}
	defer old.Release()
	err = mem.Guard(func() (err error) {
		if bytes.Equal(sent, old.Bytes()) {
			why = "the store has this file"
			return nil
		}
		better, why, err = rank.Better(context.Background(), sent, old.Bytes())
		return err
	})
	return better, why, err
}

// copyText writes the content of stored bytes.
func copyText(w io.Writer, r io.Reader) error {
	start := bufio.NewReader(r)
	magic, _ := start.Peek(packing.MagicSize) // a short file is not packed
	text, done, err := packing.NewReader(start, packing.Of(magic))
	if err != nil {
		return err
	}
	defer done()
	_, err = io.Copy(w, text)
	return err
}

// source notes the error of a reader.
type source struct {
	r   io.Reader
	err error
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
}
