package companion

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"symkit/elfx"
	"symkit/internal/mem"
	"symkit/internal/wire"
)

var (
	// errLinkName: the file name of a debug link is empty or has a directory.
	errLinkName = errors.New("debug link without a plain file name")
	// errSupVersion: the version of .debug_sup is not known.
	errSupVersion = errors.New("unknown version")
	// errOtherSup: .debug_sup of the two files has different checksums.
	errOtherSup = errors.New("checksum differs from .debug_sup")
)

// debugLink is the content of .gnu_debuglink (GDB manual, "Separate Debug
// Files"): the name of the debug file, without a directory, and the CRC-32 of
// its bytes (zlib's polynomial).
type debugLink struct {
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

// readDebugLink reads .gnu_debuglink of f; Name is "" if the file has none.
func readDebugLink(f *elfx.File) (link debugLink, err error) {
	err = readLink(f, ".gnu_debuglink", func(c *wire.Cursor) {
		// The name, padded to 4 bytes, then the checksum.
		name := string(c.CString())
		over := uint64(c.Pos()) % 4
		if over != 0 {
			c.Skip(min(4-over, uint64(c.Len())))
		}
		crc := c.U32()
		if c.Err() == nil && (name == "" || filepath.Base(name) != name) {
			c.Fail(0, errLinkName)
		}
		if c.Err() == nil {
			link = debugLink{name, crc}
		}
	})
	return link, err
}

// ReadAltLink reads .gnu_debugaltlink or else .debug_sup of f. Path is "" if the file has
// neither, or is itself a supplementary file.
func ReadAltLink(f *elfx.File) (link AltLink, err error) {
	err = readLink(f, ".gnu_debugaltlink", func(c *wire.Cursor) {
		// The path, then the build id up to the section's end.
		path := string(c.CString())
		id := slices.Clone(c.Bytes(uint64(c.Len())))
		if c.Err() == nil && path == "" {
			c.Fail(0, errLinkName)
		}
		if c.Err() == nil {
			link = AltLink{Path: path, ID: id}
		}
	})
	if err != nil || link.Path != "" {
		return link, err
	}

	// Without .gnu_debugaltlink, .debug_sup may name the file.
	s, err := readSup(f)
	if !s.supplementary {
		link = AltLink{s.path, s.sum, s.path != ""}
	}
	return link, err
}

// sup is the content of .debug_sup.
type sup struct {
	supplementary bool   // the section is in the supplementary file itself
	path          string // of the supplementary file, in a file that refers to it
	sum           []byte
}

// readSup reads .debug_sup of f (DWARF 5 §7.3.6).
func readSup(f *elfx.File) (s sup, err error) {
	err = readLink(f, ".debug_sup", func(c *wire.Cursor) {
		version := c.U16()
		if c.Err() == nil && version != 5 {
			c.Fail(0, fmt.Errorf("%w %d", errSupVersion, version))
		}

		// The fields after the version: a flag, the path, and the checksum with its length.
		supplementary := c.U8() != 0
		path := string(c.CString())
		sum := slices.Clone(c.Bytes(c.ULEB()))
		if c.Err() == nil && path == "" && !supplementary {
			c.Fail(3, errLinkName)
		}
		if c.Err() == nil {
			s = sup{supplementary, path, sum}
		}
	})
	return s, err
}

// match returns an error (elfx.ErrOtherBuildID or errOtherSup) if f is not the
// supplementary file that the link names.
func (link AltLink) match(f *elfx.File) error {
	if !link.Sup {
		return f.MatchBuildID(link.ID)
	}

	// The section is in both files, and the checksums must agree.
	s, err := readSup(f)
	switch {
	case err != nil:
		return errors.Unwrap(err) // without the path
	case !s.supplementary || !bytes.Equal(s.sum, link.ID):
		return fmt.Errorf("%w: %x, not %x", errOtherSup, s.sum, link.ID)
	}
	return nil
}

// readLink calls read with a cursor over the named section, unless the file does not have
// the section or the section is empty.
func readLink(f *elfx.File, name string, read func(c *wire.Cursor)) error {
	data, err := f.SectionData(name)
	if err != nil || len(data) == 0 {
		return err
	}
	c := wire.New(name, data, f.BigEndian)
	err = mem.Guard(func() error {
		read(&c)
		return c.Err()
	})
	if err != nil {
		return fmt.Errorf("%s: %w", f.Path(), err)
	}
	return nil
}
