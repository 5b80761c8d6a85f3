package source

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
)

// Dir is a directory of source files: paths that begin with Prefix are those below Dir.
type Dir struct {
	Prefix, Dir string
	// Anywhere looks for a path that is not there without its first directories, too: for /build/app/main.c, app/main.c
	// and then main.c.
	Anywhere bool
}

// ParseDirs reads the values of flags: PREFIX=DIR, or DIR for any path, with or without its first directories.
func ParseDirs(values []string) (dirs []Dir) {
	for _, value := range values {
		prefix, dir, ok := strings.Cut(value, "=")
		if !ok {
			prefix, dir = "", value
		}
		dirs = append(dirs, Dir{Prefix: prefix, Dir: dir, Anywhere: !ok})
	}
	return dirs
}

// Dirs are opened directories.
type Dirs struct {
	dirs  []Dir
	roots []*os.Root
}

// Open opens directories. The error is that of one of them.
func Open(dirs []Dir) (*Dirs, error) {
	d := &Dirs{dirs: dirs}
	for _, dir := range dirs {
		root, err := os.OpenRoot(dir.Dir)
		if err != nil {
			d.Close()
			return nil, err
		}
		d.roots = append(d.roots, root)
	}
	return d, nil
}

// Close closes the directories.
func (d *Dirs) Close() {
	for _, root := range d.roots {
		_ = root.Close() // nothing was written
	}
}

// MaxText bounds the text of a source file, in bytes.
const MaxText = 16 << 20

var (
	// ErrNone: no directory has such paths.
	ErrNone = errors.New("no directory of source files has such a path")
	// ErrText: a file is no text of a source file.
	ErrText = errors.New("the file is not a regular file of at most 16 MiB")
)

// Text returns the text of a file from the directory whose prefix is the longest. No link and no path leads out of the
// directory. The error is ErrNone, ErrText, or that of the file system: an fs.ErrNotExist for a file that is not there.
func (d *Dirs) Text(file string) ([]byte, error) {
	slashed := strings.ReplaceAll(file, `\`, "/")
	best, longest, rest := -1, -1, ""
	for i, dir := range d.dirs {
		prefix := strings.TrimRight(dir.Prefix, "/")
		below, ok := strings.CutPrefix(slashed, prefix)
		if ok && (prefix == "" || strings.HasPrefix(below, "/")) && len(prefix) > longest {
			best, longest, rest = i, len(prefix), below
		}
	}
	if best < 0 {
		return nil, ErrNone
	}
	name := strings.TrimPrefix(path.Clean("/"+rest), "/")
	for {
		text, err := read(d.roots[best], name)
		_, shorter, ok := strings.Cut(name, "/")
		if !ok || !d.dirs[best].Anywhere || !errors.Is(err, fs.ErrNotExist) {
			return text, err
		}
		name = shorter
	}
}

// read reads a file below a directory.
func read(root *os.Root, name string) ([]byte, error) {
	info, err := root.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > MaxText {
		return nil, ErrText
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, MaxText))
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: name, Err: err}
	}
	return text, nil
}
