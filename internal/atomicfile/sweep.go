package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"time"
)

// Sweep removes the file that a process left beside name, a path below root, if it
// was killed while it replaced name. A file of a living process is not removed.
func Sweep(root *os.Root, name string) { sweep(root, besidePath(name)) }

// sweep removes the file tmp, a name that [beside] makes, unless a living process is about
// to rename the file. It reports whether the name is free.
//
// A process holds a lock on a file as long as the file has such a name, and the lock ends
// with the process. A process that gets the lock, and sees that the file still has the
// name, may remove the file: until then no other process can give the name to another file.
func sweep(root *os.Root, tmp string) (free bool) {
	info, err := root.Lstat(tmp)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	if !info.Mode().IsRegular() {
		return remove(root, tmp) == nil // no process of ours made it
	}

	// The lock is held while a living process has the file.
	f, err := root.OpenFile(tmp, os.O_RDWR, 0) // NFS locks only what can be written
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	defer f.Close()

	if !abandoned(f) {
		return false
	}
	return !names(root, tmp, f) || remove(root, tmp) == nil
}

// names reports whether the file f has the name tmp.
func names(root *os.Root, tmp string, f *os.File) bool {
	now, err := root.Lstat(tmp)
	if err != nil {
		return false
	}

	info, err := f.Stat()
	return err == nil && os.SameFile(now, info)
}

const (
	// tries is the number of attempts to get a second name that a living process uses. A
	// process uses the name only between link and rename.
	tries = 20
	pause = time.Millisecond
)

// linkBeside gives the complete file f the second name of name or, if other processes
// keep using that one, a name that no other process uses.
func linkBeside(root *os.Root, f *os.File, name string) (tmp string, err error) {
	hold(f)
	tmp = besidePath(name)

	for range tries {
		err = link(root, f, tmp)
		if !errors.Is(err, fs.ErrExist) {
			return tmp, err
		}
		if !sweep(root, tmp) {
			time.Sleep(pause)
		}
	}

	tmp = temporary(name)
	return tmp, link(root, f, tmp)
}

// createBeside makes a file with the second temporary name for name or, if another process
// uses that name, with one that no other process uses.
func createBeside(root *os.Root, name string) (f *os.File, tmp string, err error) {
	tmp = besidePath(name)
	sweep(root, tmp)

	f, err = root.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err == nil {
		hold(f)
		if names(root, tmp, f) {
			return f, tmp, nil
		}

		// Another process took the file for abandoned before it was locked.
		f.Close()
		err = fs.ErrExist
	}

	if errors.Is(err, fs.ErrExist) {
		tmp = temporary(name)
		f, err = root.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	}
	return f, tmp, err
}

// besidePath returns the second name of the file name, both paths below root.
func besidePath(name string) string { return path.Join(path.Dir(name), beside(path.Base(name))) }
