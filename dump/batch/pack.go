package batch

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"symkit/elfx"
	"symkit/elfx/archive/pkg"
	"symkit/internal/filename"
	"symkit/internal/limitof"
	"symkit/internal/remote"
	"symkit/limits"
	"symkit/located"
)

// pack is a package, as it was when it was indexed.
type pack struct {
	path   string
	limits limits.Limits
	open   func(ctx context.Context) (*remote.File, error)
	size   int64  // in bytes, -1 if the server does not send the size
	tag    string // changes with the content
	read   bool   // size and tag are known
	blob   bool   // a layer of an OCI image layout
	single bool   // an ELF file, not a package
}

// openLocal opens the file at path.
func openLocal(path string) (*remote.File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, filename.WithoutPath(err)
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return nil, filename.WithoutPath(err)
	}
	return &remote.File{ReadCloser: file, Size: info.Size(), Tag: info.ModTime().String()}, nil
}

// limit returns how many bytes the package may unpack to.
func (p *pack) limit() uint64 { return p.limits.Max(limitof.Package, uint64(max(p.size, 0))) }

// walk streams the package. The first call stores the size and the tag of the file; later
// calls fail if the file has changed. An ELF file counts as a package with one member,
// whose name is empty.
func (p *pack) walk(ctx context.Context, v pkg.Visitor) error {
	file, err := p.open(ctx)
	if err != nil {
		return err
	}
	defer file.Close()
	if !p.read {
		p.size, p.tag, p.read = file.Size, file.Tag, true
	}
	if file.Size != p.size || file.Tag != p.tag {
		return elfx.ErrChanged
	}

	in := &interruptible{ctx: ctx, r: file}
	v.Limits, v.Name = p.limits, filepath.Base(p.path)
	if p.blob {
		v.Blob = filepath.ToSlash(p.path)
	}
	if at, ok := file.ReadCloser.(io.ReaderAt); ok {
		v.At = interruptibleAt{ctx, at}
	}
	r := bufio.NewReaderSize(in, pkg.HeadSize)
	head, _ := r.Peek(pkg.HeadSize) // a shorter file is read, too
	if isELF(head) && !pkg.IsImage(head) {
		p.single = true
		if p.size < 0 {
			return errors.New("the server does not tell the size of the file")
		}
		err = v.File(pkg.Member{Size: p.size}, r)
		if errors.Is(err, pkg.ErrStop) {
			err = nil
		}
	} else {
		err = pkg.Walk(r, p.size, v)
	}
	if errors.Is(err, pkg.ErrPackage) {
		err = &located.Error{Section: "package", Offset: int(in.n), Err: err}
	}
	return err
}

// interruptible is a reader that fails when ctx ends. n counts the bytes.
type interruptible struct {
	ctx context.Context
	r   io.Reader
	n   int64
}

func (r *interruptible) Read(p []byte) (int, error) {
	if err := context.Cause(r.ctx); err != nil {
		return 0, err
	}
	n, err := r.r.Read(p)
	r.n += int64(n)
	return n, err
}

// interruptibleAt is an io.ReaderAt that fails when ctx ends.
type interruptibleAt struct {
	ctx context.Context
	r   io.ReaderAt
}

func (r interruptibleAt) ReadAt(p []byte, at int64) (int, error) {
	if err := context.Cause(r.ctx); err != nil {
		return 0, err
	}
	return r.r.ReadAt(p, at)
}
