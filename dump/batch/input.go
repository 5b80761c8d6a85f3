package batch

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"symkit/elfx"
	"symkit/elfx/archive"
	"symkit/internal/address"
	"symkit/internal/filename"
	"symkit/internal/remote"
	"symkit/limits"
)

// input is one file that may be a module, or a part of one.
type input struct {
	Path string // of the file, or of the archive that it is in; an address without its query and passwords
	// Member is the place in an archive, or nil.
	Member *archive.Member
	// packed is the place in a package, or nil.
	Packed *packed
	// Found is set for a file that was found in a directory or an archive, not named.
	// Such a file need not have symbols.
	Found bool
	// Symbols is set for a symbol file; others are ELF files.
	Symbols bool
	// Limits bound the file when it is opened. A Member has the limits of its archive.
	Limits limits.Limits

	unread *unread // of a package that no round has read yet
}

// unread has what is known of a package before it is read.
type unread struct {
	address address.Address // empty for a package on this machine
	image   string          // the directory of the OCI image layout that the package is a layer of
}

// key returns a text that differs for different packages.
func (in *input) key() string { return cmp.Or(in.unread.address.Raw(), in.Path) }

// openPackage opens the package, on this machine or on a server.
func (in *input) openPackage(ctx context.Context) (*remote.File, error) {
	raw := in.unread.address.Raw()
	if raw == "" {
		return openLocal(in.Path)
	}
	file, err := remote.Open(ctx, raw)
	e, ok := errors.AsType[*filename.Error](err)
	if ok {
		err = e.Err // the names of inputs are without the query
	}
	return file, err
}

// Open opens the file. Errors begin with its name. The bytes of a file in a package must
// be held (hold.extract).
func (in *input) Open() (*elfx.File, error) {
	if in.Packed != nil {
		return in.Packed.open()
	}
	if in.Member != nil {
		return in.Member.Open()
	}
	return elfx.Options{Limits: in.Limits}.Open(in.Path)
}

// Name returns the name of the file for errors and manifests.
func (in *input) Name() string {
	if in.Packed != nil {
		return in.Packed.name()
	}
	if in.Member != nil {
		return in.Member.Path()
	}
	return in.Path
}

// packed is an ELF file in a package.
type packed struct {
	Package string // path of the package
	Name    string // path in the package
	*body
}

// body is the content of a file in a package. Hard links share one.
type body struct {
	pack   *pack
	at     int // number of the file among the ELF files of the package
	size   int64
	traits traits
	sum    [sha256.Size]byte // of a file without a build id

	held *held // nil while the bytes are not held
	err  error // why the file could not be extracted again
}

// sameContent reports whether two files of packages have the same bytes. For files with
// build ids the result is false.
func (p *packed) sameContent(other *packed) bool {
	return p.body == other.body || p.traits.id == "" && p.sum == other.sum && p.size == other.size && p.sum != [sha256.Size]byte{}
}

// name returns the path of the package and the name in it. An ELF file by itself has no
// name in it.
func (p *packed) name() string {
	if p.Name == "" {
		return p.Package
	}
	return p.Package + elfx.Separator + p.Name
}

// open opens the file, whose bytes must be held.
func (p *packed) open() (*elfx.File, error) {
	name := p.name()
	switch {
	case p.err != nil:
		return nil, fmt.Errorf("%s: %w", name, p.err)
	case p.held == nil:
		return nil, fmt.Errorf("%s: %w", name, errNotHeld)
	}
	return elfx.Options{Limits: p.pack.limits}.NewPart(name, p.Package, borrowed(p.held.bytes()))
}

var errNotHeld = errors.New("was not extracted from its package")
