package atomicfile

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
)

// ErrOccupied: where a file belongs is something else, such as a directory.
var ErrOccupied = errors.New("something that is no regular file is in the way")

// Publish has write make the content of a file and gives it each of the names,
// which are slash-separated paths below root; missing directories are made. A
// name that has a file already keeps it unless replace is set. No path leaves
// root, whatever symbolic links are in it.
//
// The file has no name at all until it is complete, where the system can do
// that: a process that is killed leaves nothing behind. Elsewhere it has
// temporary names that begin with a dot, and write is called once for each of
// the names.
func Publish(root *os.Root, names []string, replace bool, write func(io.Writer) error) error {
	f, err := unnamed(root)
	if err != nil {
		for _, name := range names {
			if err := publishNamed(root, name, replace, write); err != nil {
				return err
			}
		}
		return nil
	}
	defer f.Close()
	if err := write(f); err != nil {
		return err
	}
	for _, name := range names {
		if err := publishUnnamed(root, f, name, replace); err != nil {
			return err
		}
	}
	return nil
}

// publishUnnamed gives the complete file f a name.
func publishUnnamed(root *os.Root, f *os.File, name string, replace bool) error {
	if err := makeDir(root, name); err != nil {
		return err
	}
	err := link(root, f, name)
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := occupied(root, name, replace); err != nil || !replace {
		return err
	}
	tmp := temporary(name)
	if err := link(root, f, tmp); err != nil {
		return err
	}
	return rename(root, tmp, name)
}

// publishNamed writes a file under a temporary name and renames it.
func publishNamed(root *os.Root, name string, replace bool, write func(io.Writer) error) error {
	if err := makeDir(root, name); err != nil {
		return err
	}
	if _, err := root.Lstat(name); err == nil {
		if err := occupied(root, name, replace); err != nil || !replace {
			return err
		}
	}
	tmp := temporary(name)
	f, err := root.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	if err := errors.Join(write(f), f.Close()); err != nil {
		return errors.Join(err, root.Remove(tmp))
	}
	return rename(root, tmp, name)
}

// rename gives tmp its name, or removes it.
func rename(root *os.Root, tmp, name string) error {
	err := root.Rename(tmp, name)
	if err != nil {
		err = errors.Join(err, root.Remove(tmp))
	}
	return err
}

func makeDir(root *os.Root, name string) error {
	if dir := path.Dir(name); dir != "." {
		return root.MkdirAll(dir, 0o777)
	}
	return nil
}

// occupied tells whether something else than a file has the name. A symbolic
// link may be replaced, whatever it leads to; one that stays must lead to a file.
func occupied(root *os.Root, name string, replace bool) error {
	info, err := root.Lstat(name)
	if err == nil && info.Mode().Type() == fs.ModeSymlink {
		if replace {
			return nil
		}
		info, err = root.Stat(name)
	}
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "publish", Path: name, Err: fmt.Errorf("%w: %v", ErrOccupied, info.Mode())}
	}
	return err
}

// temporary is a name beside name that nobody else has.
func temporary(name string) string {
	return path.Join(path.Dir(name), "."+rand.Text()+".tmp")
}
