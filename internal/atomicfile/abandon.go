package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// ErrAbandoned is the error of files that are begun after [Abandon].
var ErrAbandoned = errors.New("the process is about to end")

// unfinished are the files that have a temporary name. There are none on systems that can
// create files without a name.
var unfinished struct {
	sync.Mutex
	files map[*os.File]temporaryFile
	ended bool // Abandon was called
}

type temporaryFile struct {
	root *os.Root
	name string
}

// Abandon removes all files of this process that are not complete, for a process that
// ends while goroutines still write files. From then on no file is begun or completed.
func Abandon() {
	unfinished.Lock()
	defer unfinished.Unlock()

	unfinished.ended = true
	for f, t := range unfinished.files {
		if remove(t.root, t.name) == nil {
			continue
		}

		// Windows removes no open file, and a file is open until the last write returns.
		f.Close()
		for range tries {
			if remove(t.root, t.name) == nil {
				break
			}
			time.Sleep(5 * pause)
		}
	}
	clear(unfinished.files)
}

// begin makes the temporary file for name.
func begin(root *os.Root, name string) (f *os.File, tmp string, err error) {
	unfinished.Lock()
	defer unfinished.Unlock()
	if unfinished.ended {
		return nil, "", ErrAbandoned
	}

	f, tmp, err = createBeside(root, name)
	if err != nil {
		return nil, "", failed(root, "create", name, err)
	}
	keep(f, root, tmp)
	return f, tmp, nil
}

// Temporary makes a file that vanishes with the process: it has no name or, where open files cannot be removed, Abandon
// removes it. Where no file can be made, it is in memory.
func Temporary() (f *os.File, memory bool, err error) {
	f, err = os.CreateTemp("", "symkit-*")
	if err != nil {
		f, err = inMemory(err)
		return f, true, err
	}
	if os.Remove(f.Name()) == nil {
		return f, false, nil
	}
	root, err := os.OpenRoot(filepath.Dir(f.Name()))
	if err != nil {
		return nil, false, errors.Join(err, f.Close())
	}
	unfinished.Lock()
	defer unfinished.Unlock()
	keep(f, root, filepath.Base(f.Name()))
	return f, false, nil
}

// keep has Abandon remove a file. unfinished is locked.
func keep(f *os.File, root *os.Root, name string) {
	if unfinished.files == nil {
		unfinished.files = map[*os.File]temporaryFile{}
	}
	unfinished.files[f] = temporaryFile{root, name}
}

// finish calls last, which renames or removes the closed file f, unless Abandon has
// removed the file.
func finish(f *os.File, last func() error) error {
	unfinished.Lock()
	defer unfinished.Unlock()
	if _, ok := unfinished.files[f]; !ok {
		return ErrAbandoned
	}

	delete(unfinished.files, f)
	return last()
}
