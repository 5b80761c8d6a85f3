package atomicfile

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"syscall"
)

// ErrOccupied reports that a file cannot be written, because a directory or something else
// that is no regular file has its path.
var ErrOccupied = errors.New("the path is occupied by something that is no regular file")

// Publish creates a file with the content that write writes, and gives the file each of the
// names: slash-separated paths below root. Publish creates missing directories. A name that
// has a file already keeps that file unless replace is set. made reports whether the first name
// is that of the new file. No path leaves root, whatever symbolic links are in it.
//
// On systems that can create files without a name, the file has none until it is complete.
// A process that is killed then leaves no file, with one exception: a process that replaces
// a file may leave the complete new file under a name that begins with a dot. On other
// systems files have such a name until they are complete, and write is called once for each
// of the names. The next Publish or Sweep of the name removes a file that was left.
func Publish(root *os.Root, names []string, replace bool, write func(io.Writer) error) (made bool, err error) {
	return publish(root, names, replace, func(w io.Writer) error {
		return write(&output{w, filepath.Join(root.Name(), names[0])})
	})
}

func publish(root *os.Root, names []string, replace bool, write func(io.Writer) error) (made bool, err error) {
	for _, name := range names {
		Sweep(root, name)
	}

	// Without unnamed files each name has a file of its own.
	f, err := unnamed(root, ".")
	if err != nil {
		return publishAll(names, func(name string) error { return publishNamed(root, name, replace, write) })
	}
	defer f.Close()

	if err := write(f); err != nil {
		return false, err
	}

	// A directory below root may be on another file system, into which no link leads.
	return publishAll(names, func(name string) error {
		err := publishUnnamed(root, f, name, replace)
		if errors.Is(err, syscall.EXDEV) {
			err = publishBeside(root, name, replace, write)
		}
		return err
	})
}

// errKept reports that a name keeps the file that it has.
var errKept = errors.New("the file exists")

// publishAll calls give for each name. made reports whether the first name got the new file.
func publishAll(names []string, give func(name string) error) (made bool, err error) {
	for i, name := range names {
		err := give(name)
		if err != nil && err != errKept {
			return false, err
		}
		made = made || i == 0 && err == nil
	}
	return made, nil
}

// publishBeside publishes a file in a directory that is on another file system than
// root, so that a file of root's cannot be linked into it.
func publishBeside(root *os.Root, name string, replace bool, write func(io.Writer) error) error {
	f, err := unnamed(root, path.Dir(name))
	if err != nil {
		return publishNamed(root, name, replace, write)
	}
	defer f.Close()

	if err := write(f); err != nil {
		return err
	}
	return publishUnnamed(root, f, name, replace)
}

// output is a file that is being written. Errors have the path that the file will get.
type output struct {
	w    io.Writer
	path string
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.w.Write(p)
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = &fs.PathError{Op: e.Op, Path: o.path, Err: e.Err}
	}
	return n, err
}

// Path returns the path by which this process can open an unfinished file: the w of the function write of Write or
// Publish, or that of Temporary.
func Path(w io.Writer) string {
	o, ok := w.(*output)
	if ok {
		w = o.w
	}
	return pathOf(w.(*os.File))
}

// failed returns err with the operation and the path of name, a path below root, in
// place of those that err has.
func failed(root *os.Root, op, name string, err error) error {
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		err = e.Err
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	return &fs.PathError{Op: op, Path: filepath.Join(root.Name(), name), Err: err}
}

// publishUnnamed gives the complete file f a name.
func publishUnnamed(root *os.Root, f *os.File, name string, replace bool) error {
	return inDir(root, name, func() error { return publishIn(root, f, name, replace) })
}

// publishIn is publishUnnamed in a directory that exists.
func publishIn(root *os.Root, f *os.File, name string, replace bool) error {
	err := link(root, f, name)
	switch {
	case err == nil:
		return nil
	case !errors.Is(err, fs.ErrExist):
		return failed(root, "create", name, err)
	}

	// Something has the name already.
	err = occupied(root, name, replace)
	if err == nil && !replace {
		err = errKept
	}
	if err != nil {
		return err
	}
	return replaceBy(root, f, name)
}

// replaceBy replaces the file name by the complete file f. For a moment f has a second
// name, which is always the same one for a name, so that the next process can remove
// a file that was left there (Sweep).
func replaceBy(root *os.Root, f *os.File, name string) error {
	tmp, err := linkBeside(root, f, name)
	if err != nil {
		return failed(root, "replace", name, err)
	}
	return rename(root, tmp, name)
}

// beside returns the second name of a file that replaces the one called base.
func beside(base string) string {
	sum := sha256.Sum256([]byte(base))
	return "." + hex.EncodeToString(sum[:12]) + ".tmp"
}

// publishNamed writes a file under a temporary name and renames it.
func publishNamed(root *os.Root, name string, replace bool, write func(io.Writer) error) error {
	if _, err := root.Lstat(name); err == nil {
		err := occupied(root, name, replace)
		if err == nil && !replace {
			err = errKept
		}
		if err != nil {
			return err
		}
	}

	// The temporary name is in the same directory, so that a rename can replace the
	// file.
	var f *os.File
	var tmp string
	err := inDir(root, name, func() (err error) {
		f, tmp, err = begin(root, name)
		return err
	})
	if err != nil {
		return err
	}
	err = write(f)
	unlock := keepLock(f) // until the file has its name: an unlocked one counts as left behind
	defer unlock()
	err = errors.Join(err, f.Close())
	return finish(f, func() error {
		if err != nil {
			return errors.Join(err, remove(root, tmp))
		}
		if replace {
			return rename(root, tmp, name)
		}
		return claim(root, tmp, name)
	})
}

// claim renames tmp to name unless another process has made a file of the name meanwhile. A rename
// would replace that file. Where files have one name only, claim renames.
func claim(root *os.Root, tmp, name string) error {
	err := root.Link(tmp, name)
	switch {
	case errors.Is(err, fs.ErrExist):
		return cmp.Or(occupied(root, name, false), remove(root, tmp), errKept)
	case err != nil:
		return rename(root, tmp, name)
	}
	return remove(root, tmp)
}

// rename renames tmp to name. It removes tmp if that fails.
func rename(root *os.Root, tmp, name string) error {
	err := renameAt(root, tmp, name)
	if err == nil {
		return nil
	}

	// Do not leave the temporary file.
	err = failed(root, "replace", name, err)
	if remove(root, tmp) != nil {
		err = fmt.Errorf("%w; %s, which is whole, cannot be removed", err, tmp)
	}
	return err
}

// dirTries bounds the attempts to make a directory and a file in it while another process removes the directory. Against
// a process that did nothing else, 20 attempts failed at times. All 1,000 take some milliseconds.
const dirTries = 1000

// inDir makes the directory of a file and calls do, again if another process has removed the directory meanwhile: one
// that removes old files of a store removes directories without files.
func inDir(root *os.Root, name string, do func() error) (err error) {
	for range dirTries {
		err = makeDir(root, name)
		if errors.Is(err, fs.ErrExist) {
			continue // the directory existed a moment ago
		}
		if err == nil {
			err = do()
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return err
}

func makeDir(root *os.Root, name string) error {
	if dir := path.Dir(name); dir != "." {
		if err := root.MkdirAll(dir, 0o777); err != nil {
			return failed(root, "create", dir, err)
		}
	}
	return nil
}

// occupied returns ErrOccupied if something else than a regular file has the name. A
// symbolic link may be replaced, whatever it refers to; one that is kept must refer to
// a regular file.
func occupied(root *os.Root, name string, replace bool) error {
	info, err := root.Lstat(name)
	if err == nil && info.Mode().Type() == fs.ModeSymlink {
		if replace {
			return nil
		}
		info, err = root.Stat(name)
	}

	// Directories, devices and pipes are never replaced.
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%w: %v", ErrOccupied, info.Mode())
	}
	if err != nil {
		err = failed(root, "create", name, err)
	}
	return err
}

// temporary returns a path in the directory of name that no other process uses.
func temporary(name string) string {
	return path.Join(path.Dir(name), "."+rand.Text()+".tmp")
}
