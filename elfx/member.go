package elfx

import (
	"bytes"
	"compress/flate"
	"debug/elf"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"iter"
	"path/filepath"

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

// memberSeparator is between the path of an archive and a member's name.
const memberSeparator = "!/"

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
		return m.archive + memberSeparator + m.Name
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

// peek tells whether the file that a thin archive names is an ELF file.
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

// IsArchive tells whether a file begins as Members reads it, a thin archive
// included.
func IsArchive(prefix []byte) bool {
	for _, magic := range []string{arMagic, thinMagic, zipMagic} {
		if bytes.HasPrefix(prefix, []byte(magic)) {
			return true
		}
	}
	return false
}

// OpenMember opens the member of the given name. The error is ErrNoMember when
// there is none, ErrAmbiguous when there are several.
func OpenMember(path, name string) (*File, error) {
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
func (m *Member) Open() (*File, error) {
	if m.external {
		return Open(m.Path())
	}
	a, err := mem.Open(m.archive)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.archive, withoutPath(err))
	}
	f := &File{path: m.Path(), archive: m.archive, mapping: a}
	err = f.do(func() error {
		data, err := m.container(a.Bytes())
		if err == nil {
			data, err = m.stored(data)
		}
		if err != nil {
			return err
		}
		if m.deflated {
			return m.inflate(f, data)
		}
		f.data, f.start = data, m.offset
		if m.outer != nil {
			f.unmap() // data lies in the outer archive's inflated bytes
		}
		return nil
	})
	if err == nil {
		err = f.do(f.parse)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func (m *Member) inflate(f *File, packed []byte) error {
	if err := m.credible(packed); err != nil {
		return err
	}
	err := f.fill(m.Size, func(dst []byte) error { return m.inflateInto(dst, packed) })
	f.unmap()
	return err
}

// unmap ends the mapping of a file whose bytes are in memory.
func (f *File) unmap() {
	_ = f.mapping.Release() // nothing can be done about an error
	f.mapping = nil
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
