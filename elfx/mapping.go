package elfx

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
)

var (
	// ErrNotRegular: a directory, FIFO, socket or device was given as a file.
	ErrNotRegular = errors.New("not a regular file")
	// ErrTooLarge: the file does not fit this machine's address space.
	ErrTooLarge = errors.New("file too large for this machine's address space")
)

// mapping is the bytes of a file, mapped or read.
type mapping struct {
	data  []byte
	info  fs.FileInfo
	unmap func() error // nil: plain memory
}

// openMapping maps the regular file at path for reading.
func openMapping(path string) (*mapping, error) {
	// Looking before opening: opening a FIFO waits for its writer.
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if err := checkRegular(info); err != nil {
		return nil, err
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	// The path may name another file by now; this one is the file's own.
	if info, err = file.Stat(); err != nil {
		return nil, err
	}
	if err := checkRegular(info); err != nil {
		return nil, err
	}
	return load(file, info)
}

func checkRegular(info fs.FileInfo) error {
	switch mode := info.Mode(); {
	case mode.IsDir():
		return fmt.Errorf("%w: it is a directory", ErrNotRegular)
	case mode&fs.ModeNamedPipe != 0:
		return fmt.Errorf("%w: it is a pipe", ErrNotRegular)
	case mode&fs.ModeSocket != 0:
		return fmt.Errorf("%w: it is a socket", ErrNotRegular)
	case mode&fs.ModeDevice != 0:
		return fmt.Errorf("%w: it is a device", ErrNotRegular)
	case !mode.IsRegular():
		return ErrNotRegular
	}
	return checkSize(info.Size(), math.MaxInt)
}

// checkSize compares a file's size with the largest slice.
func checkSize(size, most int64) error {
	if size > most {
		return fmt.Errorf("%w: %d bytes", ErrTooLarge, size)
	}
	return nil
}

// load maps the file, or reads it where it cannot be mapped: some network and
// FUSE file systems have no mmap.
func load(file *os.File, info fs.FileInfo) (*mapping, error) {
	size := int(info.Size())
	if size == 0 {
		return &mapping{info: info}, nil
	}
	if data, unmap, err := mmap(file, size); err == nil {
		return &mapping{data, info, unmap}, nil
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(file, data); err != nil {
		if err == io.ErrUnexpectedEOF || err == io.EOF {
			err = ErrChanged
		}
		return nil, err
	}
	return &mapping{data: data, info: info}, nil
}
