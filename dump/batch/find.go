package batch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"symkit/elfx/archive"
	"symkit/elfx/archive/pkg"
	"symkit/internal/address"
	"symkit/internal/filename"
	"symkit/limits"
)

// Finder collects inputs from arguments.
type Finder struct {
	Recurse bool   // search directories; otherwise directories are added to Dirs
	Member  string // the member to take of each archive; empty means all

	// Limits are those that archives are read with and inputs are opened with.
	Limits limits.Limits
	Done   *Done // packages not to read again, or nil
	Shard  Shard // the part of the inputs to keep

	Dirs []string // directories that were not searched
	// Divided is set by Dump if other shards have some of the packages that were found.
	Divided bool
	// Whole makes one module of all inputs: the error of Dump is a ManyError if they are several.
	Whole bool

	inputs   []input // the files found so far, in the order of the arguments
	failures failures
}

// AddStores adds the symbol files below the directories in Dirs, which are stores then. Without a symbol file, Dirs is
// left as it is.
func (f *Finder) AddStores(ctx context.Context) error {
	for _, dir := range f.Dirs {
		err := f.addStore(ctx, dir)
		if err != nil {
			return err
		}
	}
	if !f.Empty() {
		f.Dirs = nil
	}
	return nil
}

// Empty reports whether there is no file, not even one that cannot be read.
func (f *Finder) Empty() bool { return len(f.inputs)+f.failures.count() == 0 }

// Paths returns the paths of the files. Members of an archive have that of the archive.
func (f *Finder) Paths() []string {
	paths := make([]string, len(f.inputs))
	for i := range f.inputs {
		paths[i] = f.inputs[i].Path
	}
	return paths
}

// Add adds the inputs of an argument: an ELF file, a symbol file, the members of an archive, the ELF files
// below a directory, a package or the layers of an OCI image layout, which Dump reads.
// The argument may be a symbolic link; links below a directory are not followed.
func (f *Finder) Add(ctx context.Context, path string) error {
	if isAddress(path) {
		a := address.New(path)
		f.inputs = append(f.inputs, input{Path: a.Place(), unread: &unread{address: a}})
		return ctx.Err()
	}
	info, err := os.Stat(path)
	unknown := address.Check(path, schemes...)
	switch {
	case err != nil && unknown != nil:
		f.failures.add(failure{path, unknown})
	case err != nil:
		f.fail(path, filename.WithoutPath(err))
	case !info.Mode().IsRegular() && !info.IsDir():
		f.inputs = append(f.inputs, input{Path: path, Limits: f.Limits}) // Open returns the error
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

// schemes are those of addresses, which name a package or an ELF file: https://HOST/FILE.
var schemes = []string{"https", "http", "s3"}

// isAddress reports whether an argument is an address.
func isAddress(path string) bool {
	scheme, _, ok := strings.Cut(path, "://")
	return ok && slices.Contains(schemes, scheme)
}

func (f *Finder) fail(path string, err error) {
	f.failures.add(failure{path, fmt.Errorf("%s: %w", path, err)})
}

// file adds a file that was named. An ELF file is not read further than its header.
func (f *Finder) file(path string) {
	start, err := magic(path, pkg.HeadSize)
	reopen := func() (io.ReadCloser, error) { return os.Open(path) }
	switch {
	case err == nil && isSymbols(path, start):
		f.inputs = append(f.inputs, input{Path: path, Limits: f.Limits, Symbols: true})
		return
	case err != nil || isELF(start) && !pkg.IsImage(start):
		f.inputs = append(f.inputs, input{Path: path, Limits: f.Limits}) // Open returns the error
		return
	case pkg.Is(start, reopen, f.Limits):
		f.inputs = append(f.inputs, input{Path: path, unread: &unread{}})
		return
	}

	start, err = magic(path, pkg.UnreadSize)
	if unread := pkg.Unread(start); err == nil && unread != nil {
		f.fail(path, unread)
		return
	}
	if err != nil || !archive.Is(start) {
		f.inputs = append(f.inputs, input{Path: path, Limits: f.Limits}) // Open returns the error
		return
	}

	// The one member that --member names counts as named.
	inputs, failed := len(f.inputs), f.failures.count()
	opt := archive.Options{Limits: f.Limits}
	for m, err := range opt.Members(path) {
		switch {
		case err != nil:
			f.failures.add(failure{path, err})
		case f.Member == "" || f.Member == m.Name:
			f.inputs = append(f.inputs, input{Path: path, Member: &m, Found: f.Member == ""})
		}
	}
	if len(f.inputs) == inputs && f.failures.count() == failed {
		f.fail(path, archive.ErrNoMember)
	}
}

// search adds the ELF files and packages below dir.
func (f *Finder) search(ctx context.Context, dir string) error {
	return f.walk(ctx, dir, func(path string, start []byte) {
		switch {
		case pkg.IsDistro(start) || pkg.IsImage(start) || pkg.IsKernel(path, start):
			f.inputs = append(f.inputs, input{Path: path, Found: true, unread: &unread{}})
		case isELF(start):
			f.inputs = append(f.inputs, input{Path: path, Found: true, Limits: f.Limits})
		}
	})
}

// walk calls visit with the regular files below dir and their first bytes, in the order of their names. Symbolic links are
// skipped: their targets are below dir too, or were not named.
func (f *Finder) walk(ctx context.Context, dir string, visit func(path string, start []byte)) error {
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
		if err != nil {
			f.fail(path, filename.WithoutPath(err))
			return nil
		}
		visit(path, start)
		return nil
	})
}

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

// layout adds the layers of a directory and reports whether it is an OCI image layout.
func (f *Finder) layout(dir string) bool {
	list, incomplete, err := layers(dir)
	if err != nil {
		f.fail(dir, err)
	}
	for _, err := range incomplete {
		f.fail(dir, err)
	}
	for _, layer := range list {
		path := filepath.Join(dir, filepath.FromSlash(layer))
		f.inputs = append(f.inputs, input{Path: path, unread: &unread{image: dir}})
	}
	return err != nil || list != nil || incomplete != nil
}

// layers returns the paths of the layers if dir is an OCI image layout. The result is
// nil if it is not.
func layers(dir string) (list []string, incomplete []error, err error) {
	root := os.DirFS(dir)
	if !pkg.IsLayout(root) {
		return nil, nil, nil
	}
	list, incomplete, err = pkg.Layers(root)
	if err == nil && len(list)+len(incomplete) == 0 {
		err = errors.New("an OCI image layout without layers")
	}
	return list, incomplete, err
}
