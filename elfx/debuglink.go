package elfx

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"path/filepath"
	"slices"

	"symkit/internal/mem"
	"symkit/internal/wire"
)

var (
	// ErrLinkName: a debug link whose file name is empty or has a directory.
	ErrLinkName = errors.New("debug link without a plain file name")
	// ErrSupVersion: a .debug_sup of a version that is not known.
	ErrSupVersion = errors.New("unknown version")
)

// DebugLink is the content of .gnu_debuglink (GDB manual, "Separate Debug
// Files"): the name of the debug file, without a directory, and the CRC-32 of
// its bytes (zlib's polynomial).
type DebugLink struct {
	Name string
	CRC  uint32
}

// AltLink names the supplementary file, to which dwz moved common debug
// information: the content of .gnu_debugaltlink, or of .debug_sup (DWARF 5
// §7.3.6).
type AltLink struct {
	Path string // absolute, or relative to the file with the link
	// ID is the file's build id, or the checksum of the two .debug_sup.
	ID  []byte
	Sup bool // it is from .debug_sup
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

// AltLink reads .gnu_debugaltlink or else .debug_sup; Path is "" when the file
// has neither, and in a supplementary file.
func (f *File) AltLink() (link AltLink, err error) {
	err = f.do(func() error {
		c, err := f.linkCursor(".gnu_debugaltlink")
		if err != nil {
			return err
		}
		if c.Len() == 0 {
			sup, err := f.sup()
			if !sup.supplementary {
				link = AltLink{sup.path, sup.sum, sup.path != ""}
			}
			return err
		}
		path := string(c.CString())
		id := slices.Clone(c.Bytes(uint64(c.Len())))
		if c.Err() == nil && path == "" {
			c.Fail(0, ErrLinkName)
		}
		if c.Err() == nil {
			link = AltLink{Path: path, ID: id}
		}
		return c.Err()
	})
	return link, err
}

// sup is the content of .debug_sup.
type sup struct {
	supplementary bool   // it is in the supplementary file itself
	path          string // of that file, in one that refers to it
	sum           []byte
}

// sup reads .debug_sup (DWARF 5 §7.3.6).
func (f *File) sup() (s sup, err error) {
	c, err := f.linkCursor(".debug_sup")
	if err != nil || c.Len() == 0 {
		return s, err
	}
	if version := c.U16(); c.Err() == nil && version != 5 {
		c.Fail(0, fmt.Errorf("%w %d", ErrSupVersion, version))
	}
	supplementary := c.U8() != 0
	path := string(c.CString())
	sum := slices.Clone(c.Bytes(c.ULEB()))
	if c.Err() == nil && path == "" && !supplementary {
		c.Fail(3, ErrLinkName)
	}
	if c.Err() != nil {
		return s, c.Err()
	}
	return sup{supplementary, path, sum}, nil
}

// accept tells why c is not the supplementary file that the link means.
func (link AltLink) accept(c *File) error {
	if !link.Sup {
		return acceptBuildID(c, link.ID)
	}
	return mem.Guard(func() error {
		s, err := c.sup()
		if err == nil && (!s.supplementary || !bytes.Equal(s.sum, link.ID)) {
			err = fmt.Errorf("%w: %x, not %x", ErrOtherSup, s.sum, link.ID)
		}
		return err
	})
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
	err = mem.Guard(func() error {
		sum = crc32.ChecksumIEEE(f.data)
		return nil
	})
	return sum, err
}
