package storefiles

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"symkit/internal/atomicfile"
	"symkit/internal/filename"
)

// directory is a store on this machine.
type directory struct{ root *os.Root }

// isPrivate reports whether a key is of a file that servers keep for themselves.
func isPrivate(key string) bool { return key == Private || strings.HasPrefix(key, Private+"/") }

// list lists what is below a directory, in the order of the keys. Symbolic links to files in the store count, those to
// directories are not followed.
func (d *directory) list(ctx context.Context, below string, yield func(File) bool) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	dir := path.Clean("./" + below)
	entries, err := fs.ReadDir(d.root.FS(), dir)
	switch {
	case err != nil && below == "":
		return &filename.Error{Path: d.root.Name(), Err: filename.WithoutPath(err)}
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		if !yield(File{Key: dir, Err: filename.WithoutPath(err)}) {
			return errStopped
		}
		return nil
	}

	// A directory comes where its files come in the order of the keys.
	name := func(e fs.DirEntry) string {
		if e.IsDir() {
			return e.Name() + "/"
		}
		return e.Name()
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(name(a), name(b)) })
	for _, e := range entries {
		key := below + e.Name()
		switch {
		case isPrivate(key):
		case e.IsDir():
			err := d.list(ctx, key+"/", yield)
			if err != nil {
				return err
			}
		case e.Type().IsRegular() || e.Type() == fs.ModeSymlink:
			f, ok := d.stat(key)
			if ok && !yield(f) {
				return errStopped
			}
		}
	}
	return nil
}

// stat describes a file. ok is false for what is no regular file.
func (d *directory) stat(key string) (f File, ok bool) {
	info, err := d.root.Stat(key)
	if err != nil || !info.Mode().IsRegular() {
		return f, false
	}
	return File{Key: key, Size: info.Size(), Modified: info.ModTime(), info: info}, true
}

// same reports whether two files are one that was not written to meanwhile. The time alone does not tell: clocks of file
// systems tick every few milliseconds.
func same(a, b *File) bool {
	return os.SameFile(a.info, b.info) && a.Size == b.Size && a.Modified.Equal(b.Modified)
}

var errNotRegular = errors.New("not a regular file")

// open opens a file.
func (d *directory) open(key string) (*os.File, error) {
	// Opening a FIFO would block.
	info, err := d.root.Stat(key)
	if err == nil && !info.Mode().IsRegular() {
		err = errNotRegular
	}
	if err != nil {
		return nil, err
	}
	return d.root.Open(key)
}

// Between the check and the removal of a file another process may replace it. So the file gets another name first, and
// is removed if it is still the one to remove; else it gets its name back unless there is a newer file. A process that is
// killed in this moment leaves the file under the name aside, which tells restore the name to give back.
const asideEnd = ".removed"

// aside returns the name that a file has while it is removed, "" if its own is too long.
func aside(key string) string {
	const most = 255 // bytes of a name
	base := "." + path.Base(key) + asideEnd
	if len(base) > most {
		return ""
	}
	return path.Join(path.Dir(key), base)
}

// asideOf returns the key of the file that has the name aside key, "" if there is none.
func asideOf(key string) string {
	base, isAside := strings.CutSuffix(path.Base(key), asideEnd)
	base, isHidden := strings.CutPrefix(base, ".")
	if !isAside || !isHidden || base == "" {
		return ""
	}
	return path.Join(path.Dir(key), base)
}

func (d *directory) remove(f File) error {
	now, ok := d.stat(f.Key)
	if !ok {
		return nil
	}
	if !same(&now, &f) {
		return ErrChanged
	}
	place := aside(f.Key)
	if place == "" {
		return ignoreMissing(d.root.Remove(f.Key))
	}
	d.restore(place, f.Key)
	err := d.root.Rename(f.Key, place)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // another process has removed it
	}
	if err != nil {
		return err
	}
	now, ok = d.stat(place)
	if ok && !same(&now, &f) {
		d.restore(place, f.Key)
		return ErrChanged
	}
	err = ignoreMissing(d.root.Remove(place))
	if err != nil {
		return err
	}
	d.prune(f.Key)
	return nil
}

// restore gives a file its name back. If there is a newer one, it stays.
func (d *directory) restore(place, key string) {
	err := d.root.Link(place, key)
	if err != nil && !errors.Is(err, fs.ErrExist) && !errors.Is(err, fs.ErrNotExist) {
		_ = d.root.Rename(place, key) // no second names here
		return
	}
	if err == nil || errors.Is(err, fs.ErrExist) {
		_ = d.root.Remove(place) // the next process does it
	}
}

// prune removes the directories of a removed file that are empty.
func (d *directory) prune(key string) {
	atomicfile.Sweep(d.root, key)
	for dir := path.Dir(key); dir != "."; dir = path.Dir(dir) {
		// The system removes no directory with a file.
		if d.root.Remove(dir) != nil {
			return
		}
	}
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
