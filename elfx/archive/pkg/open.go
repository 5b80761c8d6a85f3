package pkg

import (
	"errors"
	"fmt"
	"io"
	"os"

	"symkit/elfx"
	"symkit/internal/filename"
	"symkit/internal/limitof"
	"symkit/internal/mem"
	"symkit/limits"
	"symkit/located"
)

// errNoMember: the package has no ELF file of the name.
var errNoMember = errors.New("no such ELF file in the package")

// IsFile reports whether the file at path is a package.
func IsFile(path string, l limits.Limits) bool {
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	head, _ := io.ReadAll(io.LimitReader(file, HeadSize)) // without a head it is none
	return Is(head, func() (io.ReadCloser, error) { return os.Open(path) }, l)
}

// Open opens the ELF file at path, which may be compressed. The errors for other files are those of elfx.
func Open(path string, opt elfx.Options) (*elfx.File, error) {
	f, err := opt.Open(path)
	if !errors.Is(err, elfx.ErrNotELF) || !IsFile(path, opt.Limits) {
		return f, err
	}
	packed, damage := OpenMember(path, "", opt.Limits)
	if errors.Is(damage, errNoMember) {
		return nil, err
	}
	return packed, damage
}

// Names returns the names of the first ELF files in the package at path, at most n.
func Names(path string, n int, l limits.Limits) (names []string, err error) {
	err = walkFile(path, l, func(m Member, _ io.Reader) error {
		if len(names) == n {
			return ErrStop
		}
		names = append(names, m.Name)
		return nil
	})
	return names, err
}

// OpenMember reads the ELF file of the given name into memory. Without a name, the package must be one compressed file.
func OpenMember(path, name string, l limits.Limits) (file *elfx.File, err error) {
	err = walkFile(path, l, func(m Member, r io.Reader) error {
		switch {
		case name == "" && !m.Whole:
			return ErrStop
		case name != "" && m.Name != name:
			return nil
		}
		data, err := readMember(path, m, r, l)
		if err != nil {
			return err
		}
		file, err = elfx.Options{Limits: l}.NewPart(path+separator+m.Name, path, data)
		if err != nil {
			return err
		}
		return ErrStop
	})
	if err == nil && file == nil {
		err = fmt.Errorf("%s: %w: %s", path, errNoMember, name)
	}
	return file, err
}

// walkFile walks the package at path. Errors begin with the path.
func walkFile(path string, l limits.Limits, visit func(Member, io.Reader) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}

	var ended error // of visit, with a path
	err = Walk(file, info.Size(), Visitor{Limits: l, Name: info.Name(), At: file, File: func(m Member, r io.Reader) error {
		err := visit(m, r)
		if _, ok := errors.AsType[*located.Error](err); ok {
			ended = err
		}
		return err
	}})
	if err != nil && ended == nil {
		return &filename.Error{Path: path, Err: filename.WithoutPath(err)}
	}
	return err
}

// readMember reads a file of a package into memory.
func readMember(path string, m Member, r io.Reader, l limits.Limits) (buffer, error) {
	info, err := os.Stat(path)
	if err != nil {
		return buffer{}, err
	}
	if size := uint64(info.Size()); uint64(m.Size) > l.Max(limitof.Package, size) {
		return buffer{}, l.Exceeded(limitof.Package, size)
	}

	b := mem.NewBuffer(int(m.Size))
	_, err = io.ReadFull(r, b.Bytes())
	if err != nil {
		b.Release()
		return buffer{}, fmt.Errorf("%w: %w", ErrPackage, err)
	}
	return buffer{b}, nil
}

// buffer is the content of a file in memory. It implements elfx.Source.
type buffer struct{ b *mem.Buffer }

func (b buffer) Bytes() []byte  { return b.b.Bytes() }
func (buffer) Drop(_, _ uint64) {}
func (b buffer) Release() error {
	b.b.Release()
	return nil
}
