package elfx

import (
	"errors"
	"hash/crc32"
	"path/filepath"
	"slices"

	"symkit/internal/wire"
)

// ErrLinkName: a debug link whose file name is empty or has a directory.
var ErrLinkName = errors.New("debug link without a plain file name")

// DebugLink is the content of .gnu_debuglink (GDB manual, "Separate Debug
// Files"): the name of the debug file, without a directory, and the CRC-32 of
// its bytes (zlib's polynomial).
type DebugLink struct {
	Name string
	CRC  uint32
}

// AltLink is the content of .gnu_debugaltlink: the path of the file that dwz
// moved common debug information to, and its build id.
type AltLink struct {
	Path    string // absolute, or relative to the file with the link
	BuildID []byte
}

// DebugLink reads .gnu_debuglink; Name is "" when the file has none.
func (f *File) DebugLink() (link DebugLink, err error) {
	err = f.do(func() error {
		c, err := f.linkCursor(".gnu_debuglink")
		if err != nil || c.Len() == 0 {
			return err
		}
		name := string(c.CString())
		pad(&c, 0, 4)
		crc := c.U32()
		if c.Err() == nil && (name == "" || filepath.Base(name) != name) {
			c.Fail(0, ErrLinkName)
		}
		if c.Err() == nil {
			link = DebugLink{name, crc}
		}
		return c.Err()
	})
	return link, err
}

// AltLink reads .gnu_debugaltlink; Path is "" when the file has none.
func (f *File) AltLink() (link AltLink, err error) {
	err = f.do(func() error {
		c, err := f.linkCursor(".gnu_debugaltlink")
		if err != nil || c.Len() == 0 {
			return err
		}
		path := string(c.CString())
		id := slices.Clone(c.Bytes(uint64(c.Len())))
		if c.Err() == nil && path == "" {
			c.Fail(0, ErrLinkName)
		}
		if c.Err() == nil {
			link = AltLink{path, id}
		}
		return c.Err()
	})
	return link, err
}

// linkCursor is a cursor over a section that need not be there.
func (f *File) linkCursor(name string) (wire.Cursor, error) {
	s := f.Section(name)
	if s == nil || !s.Present() {
		return wire.Cursor{}, nil
	}
	data, err := s.bytes()
	return f.cursor(name, data), err
}

// checksum is the CRC-32 of the whole file, as .gnu_debuglink has it. Its
// error does not name the path.
func (f *File) checksum() (sum uint32, err error) {
	err = Guard(func() error {
		sum = crc32.ChecksumIEEE(f.data)
		return nil
	})
	return sum, err
}
