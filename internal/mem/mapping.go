package mem

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

// Mapping is the bytes of a file. They are mapped, or read where the file
// cannot be mapped: some network and FUSE file systems have no mmap.
type Mapping struct {
	data   []byte
	info   fs.FileInfo
	mapped bool
}

// Open maps the regular file at path for reading.
func Open(path string) (*Mapping, error) {
	// Stat comes before Open, because opening a FIFO waits for its writer.
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if err := checkRegular(info); err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	file, err := openFile(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()

	// The path may name another file by now; this info is the open file's own.
	info, err = file.Stat()
	if err != nil {
		return nil, err
	}
	if err := checkRegular(info); err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}

	if m, err := Map(file, info); err == nil {
		return m, nil
	}
	return read(file, info)
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

// Map maps an open file, of which info is the Stat, and fails if the file
// cannot be mapped. The file may be closed afterwards.
func Map(file *os.File, info fs.FileInfo) (*Mapping, error) {
	size := info.Size()
	if !info.Mode().IsRegular() || size <= 0 || size > math.MaxInt {
		return nil, errors.ErrUnsupported
	}
	data, err := mapFile(file, int(size))
	if err != nil {
		return nil, err
	}
	files.add(data)
	return &Mapping{data, info, true}, nil
}

// read reads a file that cannot be mapped.
func read(file *os.File, info fs.FileInfo) (*Mapping, error) {
	data := make([]byte, info.Size())
	_, err := io.ReadFull(file, data)
	if err == io.ErrUnexpectedEOF || err == io.EOF {
		err = ErrChanged
	}
	if err != nil {
		return nil, err
	}
	return &Mapping{data: data, info: info}, nil
}

// Bytes are the file's bytes until Release. They are read-only, and read under
// Guard alone.
func (m *Mapping) Bytes() []byte { return m.data }

// Info describes the file as it was when it was opened.
func (m *Mapping) Info() fs.FileInfo { return m.info }

// Drop gives the whole pages in [from, to) back to the system. The bytes stay
// readable; the system fetches them again.
func (m *Mapping) Drop(from, to uint64) {
	if m != nil && m.mapped && to <= uint64(len(m.data)) {
		discard(m.data, from, to)
	}
}

// Release unmaps the file. The bytes must not be read any more. A second
// Release does nothing.
func (m *Mapping) Release() error {
	if m == nil || !m.mapped {
		return nil
	}
	data := m.data
	m.data, m.mapped = nil, false
	files.remove(data)
	return release(data)
}
