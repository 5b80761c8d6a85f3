package elfx

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"symkit/internal/mem"
	"symkit/internal/wire"
)

var (
	// ErrLinkName: the file name of a debug link is empty or has a directory.
	ErrLinkName = errors.New("debug link without a plain file name")
	// ErrSupVersion: the version of .debug_sup is not known.
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
	// ID is the supplementary file's build id, or the checksum that both
	// .debug_sup sections hold.
	ID  []byte
	Sup bool // the link is from .debug_sup
}

// DebugLink reads .gnu_debuglink; Name is "" if the file has none.
func (f *File) DebugLink() (DebugLink, error) { return guarded(f, f.debugLink) }

func (f *File) debugLink() (link DebugLink, err error) {
	c, err := f.linkCursor(".gnu_debuglink")
	if err != nil || c.Len() == 0 {
		return link, err
	}

	// The name, padded to 4 bytes, then the checksum.
	name := string(c.CString())
	pad(&c, 0, 4)
	crc := c.U32()
	if c.Err() == nil && (name == "" || filepath.Base(name) != name) {
		c.Fail(0, ErrLinkName)
	}
	if c.Err() != nil {
		return link, c.Err()
	}
	return DebugLink{name, crc}, nil
}

// AltLink reads .gnu_debugaltlink or else .debug_sup. Path is "" if the file has
// neither, or is itself a supplementary file.
func (f *File) AltLink() (AltLink, error) { return guarded(f, f.altLink) }

func (f *File) altLink() (link AltLink, err error) {
	c, err := f.linkCursor(".gnu_debugaltlink")
	if err != nil {
		return link, err
	}

	// Without .gnu_debugaltlink, .debug_sup may name the file.
	if c.Len() == 0 {
		sup, err := f.sup()
		if !sup.supplementary {
			link = AltLink{sup.path, sup.sum, sup.path != ""}
		}
		return link, err
	}

	// The path, then the build id up to the section's end.
	path := string(c.CString())
	id := slices.Clone(c.Bytes(uint64(c.Len())))
	if c.Err() == nil && path == "" {
		c.Fail(0, ErrLinkName)
	}
	if c.Err() != nil {
		return link, c.Err()
	}
	return AltLink{Path: path, ID: id}, nil
}

// sup is the content of .debug_sup.
type sup struct {
	supplementary bool   // the section is in the supplementary file itself
	path          string // of the supplementary file, in a file that refers to it
	sum           []byte
}

// sup reads .debug_sup (DWARF 5 §7.3.6).
func (f *File) sup() (s sup, err error) {
	c, err := f.linkCursor(".debug_sup")
	if err != nil || c.Len() == 0 {
		return s, err
	}
	version := c.U16()
	if c.Err() == nil && version != 5 {
		c.Fail(0, fmt.Errorf("%w %d", ErrSupVersion, version))
	}

	// The fields after the version: a flag, the path, and the checksum with its length.
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

// Match returns an error (ErrOtherBuildID or ErrOtherSup) if c is not the
// supplementary file that the link names.
func (link AltLink) Match(c *File) error {
	if !link.Sup {
		return c.MatchBuildID(link.ID)
	}
	return mem.Guard(func() error {
		s, err := c.sup()

		// The section is in both files, and the checksums must agree.
		if err == nil && (!s.supplementary || !bytes.Equal(s.sum, link.ID)) {
			err = fmt.Errorf("%w: %x, not %x", ErrOtherSup, s.sum, link.ID)
		}
		return err
	})
}

// linkCursor returns a cursor over the named section; it is empty if the file does
// not have the section.
func (f *File) linkCursor(name string) (wire.Cursor, error) {
	// A section of type SHT_NOBITS counts as absent.
	s := present(f.Section(name))
	if s == nil {
		return wire.Cursor{}, nil
	}
	data, err := s.bytes()
	return f.cursor(name, data), err
}
