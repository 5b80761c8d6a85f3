package walk

import (
	"bytes"
	"encoding/hex"
	"errors"
	"path/filepath"
	"sync"

	"symkit/elfx"
)

// Files finds the files that modules were loaded from, on this machine. A file
// is taken when its build id is the module's; where the module's is unknown,
// so is whether it is the right one.
type Files struct {
	// Exe is the program's own file, if not empty.
	Exe string
	// Sysroot stands before the paths that the dump has; empty: the paths
	// themselves.
	Sysroot string
	// Dirs have build-id directories, .build-id/xx/yyyy.
	Dirs []string

	mu    sync.Mutex
	found map[*Module]*foundFile
}

type foundFile struct {
	file   *elfx.File
	probes []elfx.Probe
}

// ErrUnverified: the module's build id is not known, so that a file found by
// its name may be another one.
var ErrUnverified = errors.New("build id unknown: not verified")

// Binary finds the file of m. The File is nil when there is none. It is
// opened once, and stays open until Close. The probes tell every place in
// order; the last one is the file's.
func (f *Files) Binary(m *Module) (*elfx.File, []elfx.Probe) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if got := f.found[m]; got != nil {
		return got.file, got.probes
	}
	got := &foundFile{}
	for _, path := range f.candidates(m) {
		file, err := elfx.Open(path)
		if err == nil {
			err = matches(file, m)
		}
		got.probes = append(got.probes, elfx.Probe{Path: path, Err: pathless(err)})
		if err == nil {
			got.file = file
			break
		}
		if file != nil {
			file.Close()
		}
	}
	if f.found == nil {
		f.found = map[*Module]*foundFile{}
	}
	f.found[m] = got
	return got.file, got.probes
}

// candidates are the paths to try for m.
func (f *Files) candidates(m *Module) (paths []string) {
	if f.Exe != "" {
		// Tried for every module with a build id: it may be a library.
		if m.BuildID != nil || m.Path == f.Exe || filepath.Base(m.Path) == filepath.Base(f.Exe) {
			paths = append(paths, f.Exe)
		}
	}
	if filepath.IsAbs(m.Path) {
		paths = append(paths, filepath.Join(f.Sysroot, m.Path))
	}
	if id := hex.EncodeToString(m.BuildID); len(id) > 2 {
		for _, dir := range f.Dirs {
			paths = append(paths, filepath.Join(dir, ".build-id", id[:2], id[2:]))
		}
	}
	return paths
}

// matches tells whether file can be m's.
func matches(file *elfx.File, m *Module) error {
	switch {
	case m.BuildID != nil && !bytes.Equal(file.BuildID(), m.BuildID):
		return elfx.ErrOtherBuildID
	case !file.HoldsLoaded():
		return errors.New("is a debug file")
	}
	return nil
}

// pathless cuts the path off an error of the operating system.
func pathless(err error) error {
	for e := err; e != nil; e = errors.Unwrap(e) {
		if next := errors.Unwrap(e); next == nil {
			return e
		}
	}
	return err
}

// Close closes the files.
func (f *Files) Close() (err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for m, got := range f.found {
		if got.file != nil {
			err = errors.Join(err, got.file.Close())
		}
		delete(f.found, m)
	}
	return err
}
