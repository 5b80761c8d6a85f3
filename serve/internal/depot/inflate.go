package depot

import (
	"io"
	"io/fs"

	"symkit/internal/packing"
)

// Copy writes the content of stored bytes.
func Copy(w io.Writer, r io.Reader, encoding string) error {
	text, done, err := packing.NewReader(r, packing.How(encoding))
	if err != nil {
		return err
	}
	defer done()
	_, err = io.Copy(w, text)
	return err
}

// Inflate returns a reader of the content of stored bytes. The content has a size. Seeking backward, and forward, reads
// what lies before.
func Inflate(r io.ReadSeeker, encoding string, size int64) io.ReadSeekCloser {
	return &inflated{source: r, encoding: encoding, size: size, done: func() {}}
}

type inflated struct {
	source   io.ReadSeeker
	encoding string
	size     int64
	text     io.Reader // nil: not begun
	done     func()
	at       int64 // of text
	next     int64 // of the next Read
}

func (i *inflated) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += i.next
	case io.SeekEnd:
		offset += i.size
	}
	if offset < 0 {
		return 0, fs.ErrInvalid
	}
	i.next = offset
	return offset, nil
}

func (i *inflated) Read(p []byte) (int, error) {
	if i.next >= i.size {
		return 0, io.EOF
	}
	if i.text == nil || i.at > i.next {
		err := i.begin()
		if err != nil {
			return 0, err
		}
	}
	skipped, err := io.CopyN(io.Discard, i.text, i.next-i.at)
	i.at += skipped
	if err != nil {
		return 0, err
	}
	n, err := i.text.Read(p[:min(int64(len(p)), i.size-i.next)])
	i.at += int64(n)
	i.next = i.at
	return n, err
}

// begin starts at the beginning.
func (i *inflated) begin() error {
	i.done()
	i.done = func() {}
	_, err := i.source.Seek(0, io.SeekStart)
	if err != nil {
		return err
	}
	text, done, err := packing.NewReader(i.source, packing.How(i.encoding))
	if err != nil {
		return err
	}
	i.text, i.done, i.at = text, done, 0
	return nil
}

func (i *inflated) Close() error {
	i.done()
	i.done = func() {}
	return nil
}
