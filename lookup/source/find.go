package source

import (
	"bytes"
	"context"
	"crypto/md5"
	"errors"
	"io/fs"
	"os"
	"path"

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
	// MaxELF is the size in bytes above which ELF files are not read; 0 is no bound.
	MaxELF int64

	dirs *Dirs
	opt  lookup.Options
	// most is what the texts that are kept may still take, in bytes.
	most int64
}

// maxKept bounds the texts that a Finder returns, in bytes.
const maxKept = 256 << 20

// NewFinder returns a finder of what is embedded in ELF files, and of what is below directories, which may be nil.
func NewFinder(dirs *Dirs, opt lookup.Options) *Finder {
	return &Finder{dirs: dirs, opt: opt, most: maxKept}
}

// Find returns the text of the files with these paths, of the module that some files are of: what is embedded in ELF files,
// or in the bundle beside a symbol file of a store; without that, the file of a directory. Files without any text are left
// out.
func (f *Finder) Find(ctx context.Context, from, paths []string) map[string]Found {
	found, sums := map[string]Found{}, map[string][][]byte{}
	wanted := map[string]bool{}
	for _, p := range paths {
		wanted[path.Clean(p)] = true
	}
	for _, file := range from {
		f.bundled(file, wanted, found)
		f.embedded(ctx, file, wanted, found, sums)
	}
	out := map[string]Found{}
	for _, p := range paths {
		clean := path.Clean(p)
		one, ok := found[clean]
		if !ok && f.dirs != nil {
			one = f.below(p, sums[clean])
			ok = one.Text != nil || one.Err != nil
		}
		if ok {
			out[p] = one
		}
	}
	return out
}

// embedded finds the files in the line tables of an ELF file. A file that cannot be read has none.
func (f *Finder) embedded(ctx context.Context, elf string, wanted map[string]bool, found map[string]Found, sums map[string][][]byte) {
	info, err := os.Stat(elf)
	if err != nil || !info.Mode().IsRegular() || f.MaxELF > 0 && info.Size() > f.MaxELF {
		return
	}
	file, err := lookup.Open(ctx, elf, f.opt)
	if err != nil {
		return
	}
	defer file.Close()
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
