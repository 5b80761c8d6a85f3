package source

import (
	"bytes"
	"context"
	"crypto/md5"
	"errors"
	"io/fs"
	"os"
	"path"

	"symkit/elfx/companion"
	"symkit/lookup"
)

// Found is the text of a source file, or why there is none.
type Found struct {
	Text []byte // nil: none is at hand
	// Other: the file at hand is not the one that was compiled, by its digest in the line table.
	Other bool
	Err   error // why a file below a directory cannot be read
}

// Finder finds the text of the source files of modules.
type Finder struct {
	dirs *Dirs
	opt  lookup.Options
	// maxELF is the size in bytes above which ELF files are not read; 0 is no bound.
	maxELF int64
	// most is what the texts that are kept may still take, in bytes.
	most int64
}

// maxKept bounds the texts that a Finder returns, in bytes.
const maxKept = 256 << 20

// smallELF is the size in bytes of the largest ELF file that is searched for embedded source files without --source-dir:
// larger files would take time that the user did not ask for.
const smallELF = 64 << 20

// NewFinder returns a finder of what is embedded in ELF files, and of what is below directories, which it opens. The caller
// closes it.
func NewFinder(dirs []Dir, opt lookup.Options) (*Finder, error) {
	opened, err := Open(dirs)
	if err != nil {
		return nil, err
	}
	f := &Finder{dirs: opened, opt: opt, most: maxKept}
	if len(dirs) == 0 {
		f.maxELF = smallELF
	}
	return f, nil
}

// Close closes the directories.
func (f *Finder) Close() { f.dirs.Close() }

// Module opens a module for Find whose files are open already. It returns nil for a module that cannot be read or is too
// large to be read without being asked for.
func (f *Finder) Module(ctx context.Context, m *companion.Module) *lookup.File {
	if f.maxELF > 0 && m.Image.Size() > uint64(f.maxELF) {
		return nil
	}
	file, err := lookup.FromModule(ctx, m, f.opt)
	if err != nil {
		return nil
	}
	return file
}

// Find returns the text of the files with these paths, of the module that some files are of: what is embedded in ELF files,
// or in the bundle beside a symbol file of a store; without that, the file of a directory. Files without any text are left
// out. opened, if not nil, is an ELF file of the module that is open already.
func (f *Finder) Find(ctx context.Context, opened *lookup.File, from, paths []string) map[string]Found {
	found, sums := map[string]Found{}, map[string][][]byte{}
	wanted := map[string]bool{}
	for _, p := range paths {
		wanted[path.Clean(p)] = true
	}
	if opened != nil {
		f.embedded(ctx, opened, wanted, found, sums)
	}
	for _, file := range from {
		bundle := bundleOf(file)
		if bundle != "" {
			f.bundled(bundle, wanted, found)
			continue
		}
		elf := f.open(ctx, file)
		if elf != nil {
			f.embedded(ctx, elf, wanted, found, sums)
			elf.Close()
		}
	}
	out := map[string]Found{}
	for _, p := range paths {
		clean := path.Clean(p)
		one, ok := found[clean]
		if !ok {
			one = f.below(p, sums[clean])
			ok = one.Text != nil || one.Err != nil
		}
		if ok {
			out[p] = one
		}
	}
	return out
}

// open opens an ELF file. It returns nil for a file that cannot be read or is too large.
func (f *Finder) open(ctx context.Context, elf string) *lookup.File {
	info, err := os.Stat(elf)
	if err != nil || !info.Mode().IsRegular() || f.maxELF > 0 && info.Size() > f.maxELF {
		return nil
	}
	file, err := lookup.Open(ctx, elf, f.opt)
	if err != nil {
		return nil
	}
	return file
}

// embedded finds the files in the line tables of an ELF file.
func (f *Finder) embedded(ctx context.Context, file *lookup.File, wanted map[string]bool, found map[string]Found, sums map[string][][]byte) {
	for s, err := range file.Sources(func(p string) bool { return wanted[path.Clean(p)] }) {
		if err != nil || ctx.Err() != nil {
			continue // damage of one table
		}
		clean := path.Clean(s.Path)
		if s.MD5 != nil {
			sums[clean] = append(sums[clean], s.MD5)
		}
		_, known := found[clean]
		if s.Text != nil && !known && int64(len(s.Text)) <= f.most {
			f.most -= int64(len(s.Text))
			found[clean] = Found{Text: s.Text}
		}
	}
}

// below reads a file of the directories, which should have one of the digests, if there is any.
func (f *Finder) below(p string, sums [][]byte) (one Found) {
	text, err := f.dirs.Text(p)
	switch {
	case errors.Is(err, ErrNone), errors.Is(err, fs.ErrNotExist):
		return one
	case err != nil:
		return Found{Err: err}
	case int64(len(text)) > f.most:
		return one
	}
	f.most -= int64(len(text))
	return Found{Text: text, Other: IsOther(text, sums)}
}

// IsOther reports whether a text has none of some MD5 digests, of which there may be none.
func IsOther(text []byte, sums [][]byte) bool {
	own := md5.Sum(text)
	for _, sum := range sums {
		if bytes.Equal(sum, own[:]) {
			return false
		}
	}
	return len(sums) > 0
}
