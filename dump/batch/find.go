package batch

import (
	"bytes"
	"cmp"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"symkit/elfx"
	"symkit/elfx/archive"
	"symkit/elfx/archive/pkg"
	"symkit/internal/address"
	"symkit/internal/filename"
	"symkit/limits"
)

// Input is one file that may be a module, or a part of one.
type Input struct {
	Path string // of the file, or of the archive that it is in; an address without its query and passwords
	// Member is the place in an archive, or nil.
	Member *archive.Member
	// Packed is the place in a package, or nil.
	Packed *Packed
	// Found is set for a file that was found in a directory or an archive, not named.
	// Such a file need not have symbols.
	Found bool
	// Limits bound the file when it is opened. A Member has the limits of its archive.
	Limits limits.Limits

	unread *unread // of a package that Rounds has not read yet
}

// unread has what is known of a package before it is read.
type unread struct {
	address address.Address // empty for a package on this machine
	image   string          // the directory of the OCI image layout that the package is a layer of
}

// key returns a text that differs for different packages.
func (in *Input) key() string { return cmp.Or(in.unread.address.Raw(), in.Path) }

// Open opens the file. Errors begin with its name. The bytes of a file in a package must
// be held (hold.extract).
func (in *Input) Open() (*elfx.File, error) {
	if in.Packed != nil {
		return in.Packed.open()
	}
	if in.Member != nil {
		return in.Member.Open()
	}
	return elfx.Options{Limits: in.Limits}.Open(in.Path)
}

// Name returns the name of the file for errors and manifests.
func (in *Input) Name() string {
	if in.Packed != nil {
		return in.Packed.name()
	}
	if in.Member != nil {
		return in.Member.Path()
	}
	return in.Path
}

// Failure is a path that could not be read.
type Failure struct {
	Name string
	Err  error // begins with the name
}

// Finder collects inputs from arguments.
type Finder struct {
	Recurse bool   // search directories; otherwise directories are added to Dirs
	Member  string // the member to take of each archive; empty means all

	// Limits are those that archives are read with and inputs are opened with.
	Limits limits.Limits
	Done   *Done // packages not to read again, or nil
	Shard  Shard // the part of the inputs to keep
	// Remote opens the file at an address such as https://HOST/FILE, a package or an ELF
	// file. If Remote is nil, every argument is a path.
	Remote func(ctx context.Context, address string) (*Stream, error)

	Inputs []Input   // the files found so far, in the order of the arguments
	Dirs   []string  // directories that were not searched
	Failed []Failure // the files that could not be read; Failures has those that are too many for memory
	// Divided is set by Dump if Inputs are those of the shard alone.
	Divided bool
	// Whole makes one round of the inputs.
	Whole bool

	sources map[string]source // of packages, by path
	unsure  bool              // a debug file may be outside of the packages of its source
	seen    map[string]string // by the id of a module of an earlier round, the name of its main file
	waiting map[string]bool   // packages with files in held or late
	held    []Input           // wait for the next part of their source
	late    []Input           // wait for the last round
	left    []doneLine        // packages that were read and are not dumped yet
	spilled *spill            // further failures, or nil
}

// Add adds the inputs of an argument: a file, the members of an archive, the ELF files
// below a directory, a package or the layers of an OCI image layout, which rounds reads.
// The argument may be a symbolic link; links below a directory are not followed.
func (f *Finder) Add(ctx context.Context, path string) error {
	if f.isAddress(path) {
		a := address.New(path)
		f.Inputs = append(f.Inputs, Input{Path: a.Place(), unread: &unread{address: a}})
		return ctx.Err()
	}
	info, err := os.Stat(path)
	unknown := address.Check(path, schemes...)
	switch {
	case err != nil && unknown != nil:
		f.failed(Failure{path, unknown})
	case err != nil:
		f.fail(path, filename.WithoutPath(err))
	case !info.Mode().IsRegular() && !info.IsDir():
		f.Inputs = append(f.Inputs, Input{Path: path, Limits: f.Limits}) // Open returns the error
	case !info.IsDir():
		f.file(path)
	case f.layout(path):
	case f.Recurse:
		return f.search(ctx, path)
	default:
		f.Dirs = append(f.Dirs, path)
	}
	return ctx.Err()
}

// schemes are those of the addresses that Finder.Remote opens.
var schemes = []string{"https", "http", "s3"}

// isAddress reports whether an argument is an address that Remote opens.
func (f *Finder) isAddress(path string) bool {
	scheme, _, ok := strings.Cut(path, "://")
	return ok && f.Remote != nil && slices.Contains(schemes, scheme)
}

func (f *Finder) fail(path string, err error) {
	f.failed(Failure{path, fmt.Errorf("%s: %w", path, err)})
}

// file adds a file that was named. An ELF file is not read further than its header.
func (f *Finder) file(path string) {
	start, err := magic(path, pkg.HeadSize)
	reopen := func() (io.ReadCloser, error) { return os.Open(path) }
	switch {
	case err != nil || isELF(start) && !pkg.IsImage(start):
		f.Inputs = append(f.Inputs, Input{Path: path, Limits: f.Limits}) // Open returns the error
		return
	case pkg.Is(start, reopen, f.Limits):
		f.Inputs = append(f.Inputs, Input{Path: path, unread: &unread{}})
		return
	}

	start, err = magic(path, pkg.UnreadSize)
	if unread := pkg.Unread(start); err == nil && unread != nil {
		f.fail(path, unread)
		return
	}
	if err != nil || !archive.Is(start) {
		f.Inputs = append(f.Inputs, Input{Path: path, Limits: f.Limits}) // Open returns the error
		return
	}

	// The one member that --member names counts as named.
	inputs, failed := len(f.Inputs), f.CountFailed()
	opt := archive.Options{Limits: f.Limits}
	for m, err := range opt.Members(path) {
		switch {
		case err != nil:
			f.failed(Failure{path, err})
		case f.Member == "" || f.Member == m.Name:
			f.Inputs = append(f.Inputs, Input{Path: path, Member: &m, Found: f.Member == ""})
		}
	}
	if len(f.Inputs) == inputs && f.CountFailed() == failed {
		f.fail(path, archive.ErrNoMember)
	}
}

// search adds the ELF files below dir, in the order of their names. Symbolic links are
// skipped: their targets are below dir too, or were not named.
func (f *Finder) search(ctx context.Context, dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			f.fail(path, filename.WithoutPath(err))
			return nil
		case !d.Type().IsRegular():
			return nil
		}

		start, err := magic(path, pkg.HeadSize)
		switch {
		case err != nil:
			f.fail(path, filename.WithoutPath(err))
		case pkg.IsDistro(start) || pkg.IsImage(start):
			f.Inputs = append(f.Inputs, Input{Path: path, Found: true, unread: &unread{}})
		case isELF(start):
			f.Inputs = append(f.Inputs, Input{Path: path, Found: true, Limits: f.Limits})
		}
		return nil
	})
}

// isELF reports whether a file that begins with start is an ELF file.
func isELF(start []byte) bool { return bytes.HasPrefix(start, []byte(elf.ELFMAG)) }

// magic returns the first size bytes of a file, enough for the magic numbers of ELF files,
// archives and packages.
func magic(path string, size int) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()

	// A file that is shorter has neither magic number, and that is no error.
	buf := make([]byte, size)
	n, err := io.ReadFull(file, buf)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return buf[:n], err
}
