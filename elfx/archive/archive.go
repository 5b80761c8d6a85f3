package archive

import (
	"bytes"
	"fmt"
	"iter"

	"symkit/elfx"
	"symkit/internal/filename"
	"symkit/internal/mem"
	"symkit/limits"
)

// Options say how archives are read. The functions Members and OpenMember are the
// methods of the zero Options.
type Options struct {
	// Limits bound the inflated size of a compressed member, and of a compressed archive
	// within the archive (the limit inflate-ratio). The files of the members are opened with these
	// limits, too.
	Limits limits.Limits
}

// Members yields the ELF files in the archive at path, in the archive's order: an ar
// archive (with GNU's or BSD's names) or a zip file. ELF files in archives that are
// members are included, and other members are skipped. A member that cannot be read
// yields an error, after which more members can follow. The error of a damaged member
// wraps a *located.Error. The members of a thin archive are the files that the archive
// names, relative to its directory.
func Members(path string) iter.Seq2[Member, error] { return Options{}.Members(path) }

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
		return nil, &filename.Error{Path: m.archive, Err: filename.WithoutPath(err)}
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
