package sources

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"

	"symkit/elfx"
	"symkit/elfx/companion"
	"symkit/elfx/identity"
	"symkit/internal/filename"
	"symkit/internal/wire"
	"symkit/limits"
	"symkit/walk"
)

// Files finds the files that modules were loaded from, on this machine. A file is
// accepted if it has the build id of the module, or, for a module without a build id,
// the program headers of the module. If the dump has neither, any file is accepted.
type Files struct {
	// Exe is the program's own file, if not empty.
	Exe string
	// Search says where files are looked for: at the paths that the dump has, below each of
	// the Sysroots if there are any, then in build-id directories of DebugDirs.
	Search companion.Search
	// Fetch, if not nil, gets the file of a module with a build id that is in
	// none of these places, and returns its path. It is called once for a
	// module, from any goroutine.
	Fetch func(m *walk.Module) (path string, err error)
	// Archives are APKs, bundles and other zip files, or directories of such files, in which libraries are looked for that
	// are not at the paths of the dump; the Sysroots and DebugDirs are looked at, too.
	Archives []string
	// Limits are those that the files are opened with.
	Limits limits.Limits

	found    sync.Map // *foundFile by *walk.Module
	archives archives
}

// Fetched is the path of a probe that has the error of Fetch.
const Fetched = "debuginfod"

type foundFile struct {
	local, fetched sync.Once
	file           *elfx.File
	probes         []companion.Probe
}

// Reasons that a file is not that of a module.
var (
	// ErrOtherLayout: the program headers are not those of the module, which
	// has no build id.
	ErrOtherLayout = errors.New("program headers differ")
	// ErrOtherSize: the dump has neither a build id nor the program headers of the module,
	// whose name and size are not those of the file.
	ErrOtherSize = errors.New("another name, and program headers of another size")
	// errNoLibrary: the archive has no library of the process.
	errNoLibrary = errors.New("has no module of the process")
	// errNoDebug: a member with the name of a debug file is none.
	errNoDebug = errors.New("has neither debug information nor symbols")
	// ErrDebugFile: the file has the sections of a program, but not its bytes.
	ErrDebugFile = errors.New("is a debug file")
)

// Local finds the file of m without Fetch. The File is nil if there is none. The file is
// opened once, and stays open until Close. Local must not be called at the same time as
// Binary.
func (f *Files) Local(m *walk.Module) *elfx.File {
	return f.entry(m).file
}

// Binary finds the file of m. The File is nil if there is none. The file is opened once, and
// stays open until Close. The probes list the searched places in order; the last probe is
// that of the file.
func (f *Files) Binary(m *walk.Module) (*elfx.File, []companion.Probe) {
	got := f.entry(m)
	got.fetched.Do(func() {
		if got.file != nil || f.Fetch == nil || m.BuildID == nil {
			return
		}

		path, err := f.Fetch(m)
		if err != nil {
			got.probes = append(got.probes, companion.Probe{Path: Fetched, Err: err})
			return
		}
		got.try(path, f.opener(path), m, matches)
	})
	return got.file, got.probes
}

// entry returns the entry of m, after a search of all places but Fetch.
func (f *Files) entry(m *walk.Module) *foundFile {
	// Each frame of each thread asks: a map with a lock would make processors wait for each other.
	entry, ok := f.found.Load(m)
	if !ok {
		entry, _ = f.found.LoadOrStore(m, &foundFile{})
	}
	got := entry.(*foundFile)

	got.local.Do(func() {
		for _, path := range f.candidates(m) {
			check := matches
			if path == f.Exe {
				check = f.exeMatches
			}
			if got.try(path, f.opener(path), m, check) {
				return
			}
		}
		for _, member := range f.embedded(m) {
			if got.try(member.Path(), member.Open, m, matches) {
				return
			}
		}
		got.probes = append(got.probes, f.damaged(m)...)
	})
	return got
}

// At reports whether the file at a path, below one of the Sysroots, is m's.
func (f *Files) At(path string, m *walk.Module) bool {
	for _, path := range f.below(path) {
		file, _ := openIf(path, f.opener(path), m, matches)
		if file != nil {
			file.Close()
			return true
		}
	}
	return false
}

// below returns the paths on this machine of a path that the dump has.
func (f *Files) below(path string) (paths []string) {
	if len(f.Search.Sysroots) == 0 {
		return []string{path}
	}
	for _, root := range f.Search.Sysroots {
		paths = append(paths, filepath.Join(root, path))
	}
	return paths
}

// options returns the options that files are opened with.
func (f *Files) options() elfx.Options { return elfx.Options{Limits: f.Limits} }

// opener returns a function that opens the file at path.
func (f *Files) opener(path string) func() (*elfx.File, error) {
	return func() (*elfx.File, error) { return f.options().Open(path) }
}

// try calls open, which opens the file at path, and keeps the file if it is m's.
func (g *foundFile) try(path string, open func() (*elfx.File, error), m *walk.Module, check func(*elfx.File, *walk.Module) error) bool {
	file, probe := openIf(path, open, m, check)
	g.file, g.probes = file, append(g.probes, probe)
	return file != nil
}

// openIf calls open, which opens the file at path, and closes the file again if check returns an error. The
// File is nil in case of an error, which the probe has.
func openIf(path string, open func() (*elfx.File, error), m *walk.Module, check func(*elfx.File, *walk.Module) error) (*elfx.File, companion.Probe) {
	file, err := open()
	if err == nil {
		err = check(file, m)
	}
	if err != nil && file != nil {
		file.Close()
		file = nil
	}
	return file, companion.Probe{Path: path, Err: pathless(err)}
}

// candidates returns the paths to try for m, in order.
func (f *Files) candidates(m *walk.Module) (paths []string) {
	// Exe may be a library, and may have been renamed: it is tried for each module that it can be compared with.
	comparable := m.BuildID != nil || m.End > m.Base || f.namesExe(m)
	if f.Exe != "" && !IsArchiveName(f.Exe) && m.Image == nil && comparable {
		paths = append(paths, f.Exe)
	}
	if m.Foreign {
		return paths
	}

	in, inside := splitPath(m.Path)
	if filepath.IsAbs(m.Path) && (!inside || in.plain) {
		paths = append(paths, f.below(m.Path)...)
	}
	return append(paths, f.Search.BuildIDPaths(m.BuildID, "")...)
}

// Debug finds the separate debug file of a module whose own file is missing, in
// the build-id directories and in the archives at hand. The File is nil if there is none; the caller closes the File.
// The probes list the searched places in order.
func (f *Files) Debug(m *walk.Module) (*elfx.File, []companion.Probe) {
	var probes []companion.Probe
	for _, path := range f.Search.BuildIDPaths(m.BuildID, ".debug") {
		file, probe := openIf(path, f.opener(path), m, sameBuildID)
		probes = append(probes, probe)
		if file != nil {
			return file, probes
		}
	}
	file := f.ArchivedDebug(m)
	if file != nil {
		probes = append(probes, companion.Probe{Path: file.Path()})
	}
	return file, probes
}

// matches returns why file cannot be m's.
func matches(file *elfx.File, m *walk.Module) error {
	switch {
	case m.BuildID != nil:
		if err := sameBuildID(file, m); err != nil {
			return err
		}
	case m.Segments != nil && !slices.Equal(file.Segments, m.Segments):
		return ErrOtherLayout
	}
	if !file.HoldsLoaded() {
		return ErrDebugFile
	}
	return nil
}

// namesExe reports whether m has the name of the program's own file.
func (f *Files) namesExe(m *walk.Module) bool {
	return m.Path == f.Exe || m.File() == filepath.Base(f.Exe)
}

// exeMatches returns why the program's own file cannot be m's. Where nothing but the size of the
// module is known, a file of another name must have this size.
func (f *Files) exeMatches(file *elfx.File, m *walk.Module) error {
	if m.BuildID == nil && m.Segments == nil && !f.namesExe(m) && !fits(file, m.End-m.Base) {
		return ErrOtherSize
	}
	return matches(file, m)
}

// ExeError returns why the program's own file belongs to none of the modules: the reason for
// main, if it is not nil. It returns nil if the file belongs to one.
func (f *Files) ExeError(modules []*walk.Module, main *walk.Module) (reason error) {
	if IsArchiveName(f.Exe) {
		return f.archiveError(modules)
	}
	file, err := f.options().Open(f.Exe)
	if err != nil {
		return pathless(err)
	}
	defer file.Close()

	for _, m := range modules {
		if m.Image != nil {
			continue
		}
		err := f.exeMatches(file, m)
		if err == nil {
			return nil
		}
		if reason == nil || m == main {
			reason = pathless(err)
		}
	}
	return reason
}

// fits reports whether a module of size bytes can be the file: all of its segments in memory, or
// what is mapped of the file.
func fits(file *elfx.File, size uint64) bool {
	const page = 4096
	var first *elfx.Segment
	var memory, mapped uint64
	for i := range file.Segments {
		s := &file.Segments[i]
		if s.Type != elf.PT_LOAD {
			continue
		}
		if first == nil {
			first = s
		}
		memory, mapped = max(memory, s.Vaddr+s.Memsz), max(mapped, s.Vaddr+s.Filesz)
	}
	if first == nil {
		return false
	}
	pages := func(end uint64) uint64 { return (end+page-1)&^(page-1) - first.Vaddr&^(page-1) }
	return size == memory-first.Vaddr || size == pages(memory) || size == pages(mapped)
}

// sameBuildID returns an error if file does not have the build id of m. Breakpad's writer has a hash of the code in place
// of a build id that a program lacks.
func sameBuildID(file *elfx.File, m *walk.Module) error {
	id := file.BuildID()
	if bytes.Equal(id, m.BuildID) {
		return nil
	}
	if id != nil {
		return fmt.Errorf("%w: %x, not %x", elfx.ErrOtherBuildID, id, m.BuildID)
	}

	hash, err := identity.Of(&elfx.Image{Main: file})
	if err == nil && bytes.Equal(hash, m.BuildID) {
		return nil
	}
	return fmt.Errorf("%w: none, not %x", elfx.ErrOtherBuildID, m.BuildID)
}

// pathless cuts the path off an error of opening or reading a file.
func pathless(err error) error {
	if e, ok := errors.AsType[*wire.Error](err); ok {
		return e
	}
	return filename.WithoutPath(err)
}

// Close closes the files.
func (f *Files) Close() (err error) {
	for m, entry := range f.found.Range {
		got := entry.(*foundFile)
		if got.file != nil {
			err = errors.Join(err, got.file.Close())
		}
		f.found.Delete(m)
	}
	return err
}
