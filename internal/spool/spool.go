// Package spool keeps bytes until they are sent: in memory, or many of them in a temporary file.
//
//	s := &spool.Spool{}
//	defer s.Close()
//	_, err := io.Copy(s, r)
//	if err != nil {
//		return err
//	}
//	return send(s.Section(0, s.Size()))
package spool

import (
	"bytes"
	"io"
	"math"
)

// Memory is how many bytes a Spool keeps in memory before it makes a file.
const Memory = 16 << 20

// Spool keeps the bytes written to it. The zero value is empty. Once all are written, any number of goroutines may
// read.
type Spool struct {
	memory bytes.Buffer
	file   *File
}

// Write implements io.Writer. An error is that of the temporary file.
func (s *Spool) Write(p []byte) (int, error) {
	if s.file == nil && s.memory.Len()+len(p) > Memory {
		err := s.spill()
		if err != nil {
			return 0, err
		}
	}
	if s.file != nil {
		return s.file.Write(p)
	}
	return s.memory.Write(p)
}

// spill moves the bytes to a file.
func (s *Spool) spill() error {
	f, err := NewFile("", math.MaxInt64)
	if err != nil {
		return err
	}
	s.file = f
	_, err = f.Write(s.memory.Bytes())
	s.memory = bytes.Buffer{}
	return err
}

// ReadAt implements io.ReaderAt.
func (s *Spool) ReadAt(p []byte, at int64) (int, error) {
	if s.file != nil {
		return s.file.ReadAt(p, at)
	}
	return bytes.NewReader(s.memory.Bytes()).ReadAt(p, at)
}

// Size returns the number of bytes.
func (s *Spool) Size() int64 {
	if s.file != nil {
		return s.file.Size()
	}
	return int64(s.memory.Len())
}

// Section returns n bytes from an offset on.
func (s *Spool) Section(at, n int64) Section { return Section{s, at, n} }

// Close removes the file.
func (s *Spool) Close() error {
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}

// Section is a part of what can be read at any offset. It can be read several times.
type Section struct {
	r     io.ReaderAt
	at, n int64
}

// Text returns the bytes of a text as a Section.
func Text[T string | []byte](text T) Section {
	return Section{bytes.NewReader([]byte(text)), 0, int64(len(text))}
}

// Size returns the number of bytes.
func (s Section) Size() int64 { return s.n }

// Open returns a reader of the bytes.
func (s Section) Open() io.Reader { return io.NewSectionReader(s.r, s.at, s.n) }
