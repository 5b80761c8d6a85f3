package batch

import (
	"errors"
	"fmt"
	"io"
	"os"

	"symkit/elfx/archive/pkg"
	"symkit/internal/mem"
	"symkit/internal/wire"
)

// held is the bytes of one file: a buffer, or a mapped file.
type held struct {
	buffer *mem.Buffer
	file   *mem.Mapping
}

func (d *held) bytes() []byte {
	if d.file != nil {
		return d.file.Bytes()
	}
	return d.buffer.Bytes()
}

func (d *held) release() {
	d.buffer.Release()
	_ = d.file.Release() // nothing can be done about an error
}

// borrowed is the content of an ELF file whose bytes the Hold owns.
type borrowed []byte

func (b borrowed) Bytes() []byte { return b }

func (borrowed) Drop(_, _ uint64) {}

func (borrowed) Release() (_ error) { return nil }

// read reads a file of size bytes into memory or into a temporary file.
func read(r io.Reader, size int64, onDisk bool) (*held, error) {
	if onDisk {
		return spool(r, size)
	}
	buffer := mem.NewBuffer(int(size))
	_, err := io.ReadFull(r, buffer.Bytes())
	if err != nil {
		buffer.Release()
		return nil, truncated(err)
	}
	return &held{buffer: buffer}, nil
}

// truncated returns the error for a file whose bytes end too soon.
func truncated(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: %w", pkg.ErrPackage, wire.ErrTruncated)
	}
	return err
}

// spool writes a file to the directory of temporary files and maps it. The file has no
// name after the call, so that it vanishes with the process.
func spool(r io.Reader, size int64) (*held, error) {
	f, err := os.CreateTemp("", "dump_syms-*.elf")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	defer os.Remove(f.Name())

	_, err = io.CopyN(f, r, size)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name(), truncated(err))
	}
	m, err := mem.Open(f.Name())
	if err != nil {
		return nil, err
	}
	return &held{file: m}, nil
}
