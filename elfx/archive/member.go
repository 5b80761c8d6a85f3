// Package archive lists and opens the ELF files in archives: ar archives, thin
// ones included, zip files, and archives in archives.
package archive

import (
	"bytes"
	"compress/flate"
	"debug/elf"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"iter"
	"path/filepath"

	"symkit/elfx"
	"symkit/internal/mem"
	"symkit/internal/wire"
)

var (
	// ErrNotArchive: neither an ar archive nor a zip file.
	ErrNotArchive = errors.New("not an ar archive or a zip file")
	// ErrThin: a member of an archive that a thin archive names.
	ErrThin = errors.New("thin archive of archives: give the archive that it names")
	// ErrArchive: a damaged archive.
	ErrArchive = errors.New("damaged archive")
	// ErrMemberPacked: a member that is encrypted, or compressed in another way
	// than by deflate.
	ErrMemberPacked = errors.New("member is encrypted or compressed in an unknown way")
	// ErrNoMember: no ELF file of this name is in the archive.
	ErrNoMember = errors.New("no such ELF file in the archive")
	// ErrAmbiguous: several members have the name.
	ErrAmbiguous = errors.New("several members of this name")
)

// Member is one ELF file in an archive: an object in a .a, a library in a zip
// file (APK, JAR, wheel).
type Member struct {
	// Name is the member's name in the archive, with the directories that a
	// zip file has; in an archive in it, that one's name, "!/" and the name
	// there. It need not be unique in a .a.
	Name string
	// Size is the member's length in bytes, uncompressed.
	Size uint64

	archive  string
	offset   uint64 // of its bytes in the archive
	packed   uint64 // their number
	deflated bool
	sum      uint32 // CRC-32 of a deflated member
	external bool   // a file that a thin archive names
	archived bool   // an archive itself; Members does not yield it
	// outer is the deflated archive that the bytes are in; nil: they are in the
	// file.
	outer *Member
}

// Path is the path that the opened member will have: that of the archive, "!/"
// and the name; of a thin archive, that of the file that it names.
func (m *Member) Path() string {
	switch {
	case !m.external:
		return m.archive + elfx.Separator + m.Name
	case filepath.IsAbs(m.Name):
		return m.Name
	}
	return filepath.Join(filepath.Dir(m.archive), m.Name)
}

// Members yields the ELF files in the archive at path, in its order: an ar
// archive (names as GNU or BSD have them) or a zip file, and those in archives
// that are members. Other members are passed over; one that cannot be looked
// into gives an error, which need not be the last thing. Of what is damaged the
// error is a *wire.Error. The members of a thin archive are the files that it
// names, relative to its directory.
func Members(path string) iter.Seq2[Member, error] {
	return func(yield func(Member, error) bool) {
		var members []memberResult
		m, err := mem.Open(path)
		if err == nil {
			err = mem.Guard(func() (err error) {
				members, err = scanArchive(m.Bytes())
				return err
			})
			_ = m.Release() // nothing can be done about an error
		}
		if err != nil {
			members = append(members, memberResult{err: withoutPath(err)})
		}
		for _, r := range members {
			r.archive = path
			if r.err == nil && r.external {
				is, err := r.peek()
				if r.err = err; err == nil && !is {
					continue
				}
			}
			if r.err != nil {
				r.err = fmt.Errorf("%s: %w", path, r.err)
			}
			if !yield(r.Member, r.err) {
				return
			}
		}
	}
}

// peek reports whether the file that a thin archive names is an ELF file.
func (m *Member) peek() (bool, error) {
	f, err := mem.Open(m.Path())
	if err != nil {
		return false, fmt.Errorf("%s: %w", m.Name, withoutPath(err))
	}
	defer f.Release()
	is := false
	err = mem.Guard(func() error {
		is = isELF(f.Bytes())
		return nil
	})
	return is, err
}

type memberResult struct {
	Member
	err error
}

// scanFlat lists the ELF members of an archive, and the archives in it.
func scanFlat(data []byte) ([]memberResult, error) {
	switch {
	case bytes.HasPrefix(data, []byte(thinMagic)):
		return scanAr(data, true)
	case bytes.HasPrefix(data, []byte(arMagic)):
		return scanAr(data, false)
	case bytes.HasPrefix(data, []byte(zipMagic)):
		return scanZip(data)
	}
	return nil, &wire.Error{Section: archiveHeader, Err: ErrNotArchive}
}

// Is reports whether a file begins as an archive that Members reads, a thin one
// included.
func Is(prefix []byte) bool {
	for _, magic := range []string{arMagic, thinMagic, zipMagic} {
		if bytes.HasPrefix(prefix, []byte(magic)) {
			return true
		}
	}
	return false
}

// OpenMember opens the member of the given name. The error is ErrNoMember when
// there is none, ErrAmbiguous when there are several.
func OpenMember(path, name string) (*elfx.File, error) {
	var found []Member
	var damage error
	for m, err := range Members(path) {
		switch {
		case err != nil && damage == nil:
			damage = err
		case err == nil && m.Name == name:
			found = append(found, m)
		}
	}
	switch {
	case len(found) == 1:
		return found[0].Open()
	case len(found) > 1:
		return nil, fmt.Errorf("%s: %w: %s", path, ErrAmbiguous, name)
	case damage != nil:
		return nil, damage
	}
	return nil, fmt.Errorf("%s: %w: %s", path, ErrNoMember, name)
}

// Open opens the member. A stored one aliases the mapped archive; a deflated
// one is inflated into memory, at most 256 times its packed size or 16 MiB.
func (m *Member) Open() (*elfx.File, error) {
	if m.external {
		return elfx.Open(m.Path())
	}
	file, err := mem.Open(m.archive)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.archive, withoutPath(err))
	}
	var c *content
	err = mem.Guard(func() (err error) {
		c, err = m.content(file)
		return err
	})
	if err != nil {
		_ = file.Release() // nothing can be done about another error
		return nil, fmt.Errorf("%s: %w", m.Path(), err)
	}
	return elfx.NewPart(m.Path(), m.archive, c)
}

// content finds the member's bytes in the file of the archive, which it
// releases if they are elsewhere in memory.
func (m *Member) content(file *mem.Mapping) (*content, error) {
	data, err := m.container(file.Bytes())
	if err == nil {
		data, err = m.stored(data)
	}
	if err != nil {
		return nil, err
	}

	switch {
	case m.deflated:
		buffer, err := m.inflate(data)
		if err != nil {
			return nil, err
		}
		return &content{data: buffer.Bytes(), buffer: buffer}, file.Release()
	case m.outer != nil:
		return &content{data: data}, file.Release()
	}
	return &content{data: data, mapping: file, start: m.offset}, nil
}

// inflate inflates the member, of which packed is the stream, into memory of its
// own.
func (m *Member) inflate(packed []byte) (*mem.Buffer, error) {
	if err := m.credible(packed); err != nil {
		return nil, err
	}
	buffer := mem.NewBuffer(int(m.Size))
	if err := m.inflateInto(buffer.Bytes(), packed); err != nil {
		buffer.Release()
		return nil, err
	}
	return buffer, nil
}

// content is the bytes of an opened member: a part of the mapped archive, or
// what they were inflated into, which is the member's own buffer or the bytes of
// an archive in the archive. It implements elfx.Source.
type content struct {
	data    []byte
	mapping *mem.Mapping // nil: the bytes are not the file's
	start   uint64       // of the bytes in the mapping
	buffer  *mem.Buffer
}

func (c *content) Bytes() []byte { return c.data }

func (c *content) Drop(from, to uint64) { c.mapping.Drop(c.start+from, c.start+to) }

func (c *content) Release() error {
	c.buffer.Release()
	return c.mapping.Release()
}

func (m *Member) inflateInto(dst, packed []byte) error {
	r := flate.NewReader(bytes.NewReader(packed))
	_, err := io.ReadFull(r, dst)
	if err == nil {
		var more [1]byte
		if n, end := r.Read(more[:]); n != 0 || end != io.EOF {
			err = errors.New("longer than its header says")
		} else if crc32.ChecksumIEEE(dst) != m.sum {
			err = errors.New("wrong checksum")
		}
	}
	if err != nil {
		err = &wire.Error{Section: archiveHeader, Offset: int(m.offset), Err: fmt.Errorf("%w: %w", ErrArchive, err)}
	}
	return err
}

func isELF(data []byte) bool { return bytes.HasPrefix(data, []byte(elf.ELFMAG)) }

// withoutPath removes the path from a system error.
func withoutPath(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}
