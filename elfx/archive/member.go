// Package archive lists and opens the ELF files in archives: ar archives and thin ar
// archives, zip files, and archives inside archives.
//
//	for m, err := range archive.Members("app.apk") {
//		if err != nil {
//			log.Print(err) // other members follow
//			continue
//		}
//		f, err := m.Open()
//		if err != nil {
//			log.Print(err)
//			continue
//		}
//		fmt.Println(f.Path(), f.Machine)
//		f.Close()
//	}
package archive

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

	"symkit/elfx"
	"symkit/internal/filename"
	"symkit/internal/mem"
	"symkit/limits"
	"symkit/located"
)

var (
	// ErrNotArchive: the file is neither an ar archive nor a zip file.
	ErrNotArchive = errors.New("not an ar archive or a zip file")
	// errThin: the member is in another archive, which a thin archive names.
	errThin = errors.New("thin archive of archives: give the archive that it names")
	// errArchive: the archive is damaged.
	errArchive = errors.New("damaged archive")
	// errMemberPacked: the member is encrypted, or compressed by another method than
	// deflate.
	errMemberPacked = errors.New("member is encrypted or compressed by an unknown method")
	// ErrNoMember: the archive has no ELF file of this name.
	ErrNoMember = errors.New("no such ELF file in the archive")
	// errAmbiguous: several members have the name.
	errAmbiguous = errors.New("several members of this name")
)

// Member is one ELF file in an archive: an object in a .a, a library in a zip
// file (APK, JAR, wheel).
type Member struct {
	// Name is the member's name in the archive, with directories in a zip file.
	// For a member of an archive inside the archive, Name is the inner archive's
	// name, "!/" and the member's name in the inner archive. Several members of a .a
	// can have one name.
	Name string
	// Size is the member's length in bytes, uncompressed.
	Size uint64

	archive  string
	offset   uint64 // of the member's bytes, in the archive
	packed   uint64 // number of the bytes
	deflated bool
	sum      uint32 // CRC-32 of a deflated member
	external bool   // the member is a file that a thin archive names
	archived bool   // the member is an archive, which Members does not yield
	limits   limits.Limits
	// outer is the deflated archive that contains the bytes, or nil if the file
	// contains them.
	outer *Member
}

// Path returns the path of the opened member: the archive's path, "!/" and the name.
// For a member of a thin archive, it is the path of the file that the archive names.
func (m *Member) Path() string {
	switch {
	case !m.external:
		return m.archive + elfx.Separator + m.Name
	case filepath.IsAbs(m.Name):
		return m.Name
	}
	return filepath.Join(filepath.Dir(m.archive), m.Name)
}

// Members yields the ELF files in the archive at path, in the archive's order: an ar
// archive (with GNU's or BSD's names) or a zip file. ELF files in archives that are
// members are included, and other members are skipped. A member that cannot be read
// yields an error, after which more members can follow. The error of a damaged member
// wraps a *located.Error. The members of a thin archive are the files that the archive
// names, relative to its directory.
func Members(path string) iter.Seq2[Member, error] { return Options{}.Members(path) }

// Options say how archives are read. The functions Members and OpenMember are the
// methods of the zero Options.
type Options struct {
	// Limits bound the inflated size of a compressed member, and of a compressed archive
	// within the archive (limits.InflateRatio). The files of the members are opened with these
	// limits, too.
	Limits limits.Limits
}

// Members is the function Members with options.
func (opt Options) Members(path string) iter.Seq2[Member, error] {
	return func(yield func(Member, error) bool) {
		// The archive is scanned at once, so that it is not mapped while the consumer
		// runs.
		var members []memberResult
		m, err := mem.Open(path)
		if err == nil {
			err = mem.Guard(func() (err error) {
				members, err = scanArchive(m.Bytes(), opt.Limits)
				return err
			})
			_ = m.Release() // nothing can be done about an error
		}
		if err != nil {
			members = append(members, memberResult{err: filename.WithoutPath(err)})
		}

		// The members of a thin archive are files of their own, which are read here.
		for _, r := range members {
			r.archive = path
			if r.err == nil && r.external {
				var is bool
				is, r.err = r.peek()
				if r.err == nil && !is {
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
		return false, fmt.Errorf("%s: %w", m.Name, filename.WithoutPath(err))
	}
	defer f.Release()

	is := false
	err = mem.Guard(func() error {
		is = isELF(f.Bytes())
		return nil
	})
	return is, err
}

// memberResult is a pair that Members yields.
type memberResult struct {
	Member
	err error
}

// scanFlat lists the members of an archive that are ELF files or archives, at most most of
// them. complete reports whether the archive has no more.
func scanFlat(data []byte, most uint64) (list []memberResult, complete bool, err error) {
	switch {
	case bytes.HasPrefix(data, []byte(thinMagic)):
		return scanAr(data, true, most)
	case bytes.HasPrefix(data, []byte(arMagic)):
		return scanAr(data, false, most)
	case bytes.HasPrefix(data, []byte(zipMagic)):
		return scanZip(data, most)
	}
	return nil, true, &located.Error{Section: archiveHeader, Err: ErrNotArchive}
}

// Is reports whether prefix is the start of an archive that Members reads. Thin
// archives are included.
func Is(prefix []byte) bool {
	for _, magic := range []string{arMagic, thinMagic, zipMagic} {
		if bytes.HasPrefix(prefix, []byte(magic)) {
			return true
		}
	}
	return false
}

// OpenMember opens the member of the given name. The error is ErrNoMember if there is
// no such member, and errAmbiguous if there are several.
func OpenMember(path, name string) (*elfx.File, error) { return Options{}.OpenMember(path, name) }

// OpenMember is the function OpenMember with options.
func (opt Options) OpenMember(path, name string) (*elfx.File, error) {
	// All members are listed: a name can occur several times.
	var found []Member
	var damage error
	for m, err := range opt.Members(path) {
		switch {
		case err != nil && damage == nil:
			damage = err
		case err == nil && m.Name == name:
			found = append(found, m)
		}
	}

	// Damage matters only if the member was not found.
	switch {
	case len(found) == 1:
		return found[0].Open()
	case len(found) > 1:
		return nil, fmt.Errorf("%s: %w: %s", path, errAmbiguous, name)
	case damage != nil:
		return nil, damage
	}
	return nil, fmt.Errorf("%s: %w: %s", path, ErrNoMember, name)
}

// Open opens the member. The file of a stored member aliases the mapped archive. A
// deflated member is inflated into memory: at most 256 times its compressed size or
// 16 MiB.
func (m *Member) Open() (*elfx.File, error) {
	opt := elfx.Options{Limits: m.limits}
	if m.external {
		return opt.Open(m.Path())
	}
	file, err := mem.Open(m.archive)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.archive, filename.WithoutPath(err))
	}

	// The archive may change while it is read.
	var c *content
	err = mem.Guard(func() (err error) {
		c, err = m.content(file)
		return err
	})
	if err != nil {
		_ = file.Release() // nothing can be done about another error
		return nil, fmt.Errorf("%s: %w", m.Path(), err)
	}
	return opt.NewPart(m.Path(), m.archive, c)
}

// content returns the member's bytes. It releases file, the mapped archive, if the
// bytes do not alias the file.
func (m *Member) content(file *mem.Mapping) (*content, error) {
	data, err := m.container(file.Bytes())
	if err == nil {
		data, err = m.stored(data)
	}
	if err != nil {
		return nil, err
	}

	// Only a stored member of the file itself aliases the mapping.
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

// inflate inflates the stream packed into a new buffer.
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

// content owns the bytes of an opened member: part of the mapped archive, the
// member's own buffer, or part of an inflated archive. It implements elfx.Source.
type content struct {
	data    []byte
	mapping *mem.Mapping // nil: the bytes are not in a mapped file
	start   uint64       // file offset of the bytes
	buffer  *mem.Buffer  // nil: the member was not inflated
}

func (c *content) Bytes() []byte { return c.data }

func (c *content) Drop(from, to uint64) { c.mapping.Drop(c.start+from, c.start+to) }

func (c *content) Release() error {
	c.buffer.Release()
	return c.mapping.Release()
}

// inflateInto inflates the stream packed, whose size and checksum must be those of the
// header, into dst.
func (m *Member) inflateInto(dst, packed []byte) error {
	// Read exactly the size of the header; the stream must end there.
	r := flate.NewReader(bytes.NewReader(packed))
	_, err := io.ReadFull(r, dst)
	if err == nil {
		var more [1]byte
		n, end := r.Read(more[:])
		if n != 0 || end != io.EOF {
			err = errors.New("longer than its header says")
		} else if crc32.ChecksumIEEE(dst) != m.sum {
			err = errors.New("wrong checksum")
		}
	}
	if err == nil {
		return nil
	}
	return m.failed(fmt.Errorf("%w: %w", errArchive, err))
}

// failed returns err at the member's offset in the archive.
func (m *Member) failed(err error) error {
	return &located.Error{Section: archiveHeader, Offset: int(m.offset), Err: err}
}

func isELF(data []byte) bool { return bytes.HasPrefix(data, []byte(elf.ELFMAG)) }
