package sources

import (
	"bytes"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"symkit/elfx"
	"symkit/elfx/archive"
	"symkit/elfx/companion"
	"symkit/limits"
	"symkit/walk"
)

// Android's linker maps libraries that an APK stores uncompressed from inside the APK. The process then has mappings of
// base.apk at an offset, and the writers of dumps name such a module in five ways:
//
//	/data/app/x/base.apk                            the mapping (core files, older minidumps, tombstones)
//	/data/app/x/base.apk!/lib/arm64-v8a/libx.so     the linker's own list (Crashpad)
//	/data/app/x/base.apk!libx.so                    libunwindstack: tombstones
//	/data/app/x/base.apk/libx.so                    Breakpad and rust-minidump's writer
//	libx.so                                         Crashpad, where the library has a DT_SONAME
//
// The library is a member of that APK, of the APK, bundle (AAB) or set of split APKs that the developer still has, or of
// an archive of debug files (native-debug-symbols.zip).

// insidePath is the path of a module inside an archive, taken apart.
type insidePath struct {
	archive string // the path of the archive
	member  string // the name of the member, or the last part of the name; empty: unknown
	// plain: the path can be that of a file of its own, in a directory with the name of an archive.
	plain bool
}

// splitPath takes the path of a module inside an archive apart. It returns false for the path of a file of its own.
func splitPath(path string) (in insidePath, ok bool) {
	for _, suffix := range archiveSuffixes {
		for _, mark := range []string{"!/", "!", "/"} {
			i := strings.Index(path, suffix+mark)
			if i > 0 && i+len(suffix+mark) < len(path) {
				at := i + len(suffix)
				return insidePath{path[:at], path[at+len(mark):], mark == "/"}, true
			}
		}
	}
	return insidePath{archive: path}, IsArchiveName(path)
}

// archiveSuffixes are the ends of the names of archives that have libraries of Android: APKs, bundles, sets of APKs (of
// bundletool, APKPure and APKMirror), archives of debug files.
var archiveSuffixes = []string{".apk", ".aab", ".apks", ".xapk", ".apkm", ".zip"}

// IsArchiveName reports whether a path is that of an archive that can have libraries, by the end of the name.
func IsArchiveName(name string) bool {
	return slices.ContainsFunc(archiveSuffixes, func(suffix string) bool { return strings.HasSuffix(name, suffix) })
}

// maxArchives bounds the archives, and maxEntries the entries of directories, that are looked at for archives.
const (
	maxArchives = 1 << 12
	maxEntries  = 1 << 14
)

// archives are the archives in the directories that the caller has given.
type archives struct {
	once  sync.Once
	paths []string
	known map[string]bool // the paths

	mu      sync.Mutex
	members map[string][]library // by the path of the archive; damaged members are left out
	damage  map[string]error     // the first of each archive
}

// library is a member of an archive.
type library struct {
	archive.Member
	id []byte // the build id of a member that is not compressed
}

// of lists the members of the archive at a path.
func (a *archives) of(path string, l limits.Limits) []library {
	a.mu.Lock()
	defer a.mu.Unlock()
	list, known := a.members[path]
	if known {
		return list
	}
	for m, err := range (archive.Options{Limits: l}).Members(path) {
		if err == nil {
			list = append(list, library{m, storedID(&m)})
		} else if a.damage[path] == nil {
			if a.damage == nil {
				a.damage = map[string]error{}
			}
			a.damage[path] = err
		}
	}
	if a.members == nil {
		a.members = map[string][]library{}
	}
	a.members[path] = list
	return list
}

// damaged returns what is wrong with the archives that can have the file of m, if m is inside of an archive.
func (f *Files) damaged(m *walk.Module) (probes []companion.Probe) {
	_, inside := splitPath(m.Path)
	if !inside {
		return nil
	}
	for _, path := range f.archivesOf(m) {
		f.archives.of(path, f.Limits)
		f.archives.mu.Lock()
		err := f.archives.damage[path]
		f.archives.mu.Unlock()
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			probes = append(probes, companion.Probe{Path: path, Err: pathless(err)})
		}
	}
	return probes
}

// storedID returns the build id of a member that is not compressed; to read that of another one takes as long as to
// inflate the member.
func storedID(m *archive.Member) []byte {
	_, stored := m.Start()
	if !stored {
		return nil
	}
	file, err := m.Open()
	if err != nil {
		return nil
	}
	defer file.Close()
	return bytes.Clone(file.BuildID())
}

// atHand returns the archives below the directories that the caller has given, those that are nearer to the directories
// first.
func (f *Files) atHand() []string {
	a := &f.archives
	a.once.Do(func() {
		left := maxEntries
		dirs := slices.Concat(f.Archives, f.Search.Sysroots, f.Search.DebugDirs)
		for depth := 0; len(dirs) > 0 && depth < 4; depth++ {
			var below []string
			for _, dir := range dirs {
				below = append(below, a.list(dir, &left)...)
			}
			dirs = below
		}
	})
	return a.paths
}

// list adds the archives in a directory, or at a path, and returns the directories in the directory.
func (a *archives) list(path string, left *int) (below []string) {
	info, err := os.Stat(path)
	if err != nil {
		return nil
	}
	if !info.IsDir() {
		a.add(path, info.Mode())
		return nil
	}
	dir, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer dir.Close()
	entries, _ := dir.ReadDir(max(*left, 1)) // the entries before an error count
	*left -= len(entries)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	for _, e := range entries {
		at := filepath.Join(path, e.Name())
		if e.IsDir() && *left > 0 {
			below = append(below, at)
		} else {
			a.add(at, e.Type())
		}
	}
	return below
}

// add adds a file with the name of an archive.
func (a *archives) add(path string, mode fs.FileMode) {
	if mode.IsRegular() && IsArchiveName(path) && len(a.paths) < maxArchives && !a.known[path] {
		if a.known == nil {
			a.known = map[string]bool{}
		}
		a.known[path] = true
		a.paths = append(a.paths, path)
	}
}

// embedded returns the members of archives that can be the file of m: those with its build id, then those of its place or
// name whose build id is unknown; in each case those of the archive at the path in the dump before those of the archives
// at hand, which can be many builds of one app. If there are none, the first one of another build shows why.
func (f *Files) embedded(m *walk.Module) (found []archive.Member) {
	in, _ := splitPath(m.Path)
	var unknown, others []archive.Member
	for _, path := range f.archivesOf(m) {
		for _, member := range f.archives.of(path, f.Limits) {
			same := m.BuildID != nil && bytes.Equal(m.BuildID, member.id)
			fits := isAt(&member.Member, m) || hasName(&member.Member, in.member, m.Name, m.File())
			switch {
			case same:
				found = append(found, member.Member)
			case fits && (m.BuildID == nil || member.id == nil):
				unknown = append(unknown, member.Member)
			case fits && others == nil:
				others = append(others, member.Member)
			}
		}
	}
	found = append(found, unknown...)
	if found == nil {
		return others
	}
	return found
}

// archivesOf returns the paths of the archives that can have the file of m.
func (f *Files) archivesOf(m *walk.Module) (paths []string) {
	in, inside := splitPath(m.Path)
	if inside && filepath.IsAbs(in.archive) && !m.Foreign {
		paths = f.below(in.archive)
	}
	if IsArchiveName(f.Exe) && !slices.Contains(paths, f.Exe) {
		paths = append(paths, f.Exe)
	}
	if !inside && m.BuildID == nil {
		return paths
	}
	// An archive may be at hand by several of the ways.
	others := f.atHand()
	return append(paths, slices.DeleteFunc(slices.Clone(others), func(path string) bool { return slices.Contains(paths, path) })...)
}

// isAt reports whether the process mapped a module where a member of an archive begins.
func isAt(member *archive.Member, m *walk.Module) bool {
	start, stored := member.Start()
	return stored && m.Offset != 0 && start == m.Offset
}

// debugSuffixes are the ends of the names of debug files in bundles and in native-debug-symbols.zip.
var debugSuffixes = []string{".dbg", ".sym", ".debug"}

// debugMembers returns the members of the archives at hand that can be the debug file of m: those with the name of the
// module, as in BUNDLE-METADATA/com.android.tools.build.debugsymbols/arm64-v8a/libx.so.dbg.
func (f *Files) debugMembers(m *walk.Module) (found []archive.Member) {
	if m.BuildID == nil {
		return nil
	}
	for _, path := range f.atHand() {
		for _, member := range f.archives.of(path, f.Limits) {
			plain := member.Member
			for _, suffix := range debugSuffixes {
				plain.Name = strings.TrimSuffix(plain.Name, suffix)
			}
			if hasName(&plain, m.Name, m.File()) {
				found = append(found, member.Member)
			}
		}
	}
	return found
}

// ArchivedDebug opens the debug file of m in the archives at hand. The File is nil if there is none; the caller closes the
// File.
func (f *Files) ArchivedDebug(m *walk.Module) *elfx.File {
	for _, member := range f.debugMembers(m) {
		file, _ := openIf(member.Path(), member.Open, m, isDebug)
		if file != nil {
			return file
		}
	}
	return nil
}

// isDebug returns why file cannot be the debug file of m.
func isDebug(file *elfx.File, m *walk.Module) error {
	err := sameBuildID(file, m)
	if err == nil && file.Section(".debug_info") == nil && file.Section(".symtab") == nil {
		err = errNoDebug
	}
	return err
}

// archiveError returns an error if no member of the archive that is the program's own file is a module's.
func (f *Files) archiveError(modules []*walk.Module) error {
	alone := Files{Exe: f.Exe, Limits: f.Limits}
	alone.archives.once.Do(func() {}) // no other archives
	defer alone.Close()
	for _, m := range modules {
		apart := *m
		apart.Foreign = true // no paths
		if m.Image == nil && alone.Local(&apart) != nil {
			return nil
		}
	}
	return errNoLibrary
}

// hasName reports whether a member has one of the names, which may lack directories.
func hasName(member *archive.Member, names ...string) bool {
	own := walk.BaseName(member.Name)
	return slices.ContainsFunc(names, func(name string) bool { return name != "" && walk.BaseName(name) == own })
}

// Stored returns the file that a process mapped from an offset of an archive on: of the archive at a path, below one of the
// Sysroots, or of an archive at hand. It is the first member that begins at the offset and that check accepts. A bundle has
// the same libraries in other places: without such a member, the file is the only one that check accepts of all builds.
// Stored returns the name of the member; the file is nil if there is none. The caller closes the file.
func (f *Files) Stored(path string, offset uint64, check func(*elfx.File) bool) (file *elfx.File, member string) {
	m := &walk.Module{Path: path, Offset: offset}
	left := maxOpened
	for _, at := range []bool{true, false} {
		for found := range f.accepted(m, at, check, &left) {
			switch {
			case file == nil:
				file, member = found.file, found.name
				if at {
					return file, member
				}
				continue
			case !bytes.Equal(file.BuildID(), found.file.BuildID()):
				found.file.Close()
				file.Close()
				return nil, ""
			}
			found.file.Close()
		}
	}
	return file, member
}

// opened is a member that was opened.
type opened struct {
	file *elfx.File
	name string
}

// accepted opens the members of archives that check accepts: those that begin where the process mapped m, or all others.
// left is the number of members that may still be opened.
func (f *Files) accepted(m *walk.Module, at bool, check func(*elfx.File) bool, left *int) iter.Seq[opened] {
	return func(yield func(opened) bool) {
		for _, path := range f.archivesOf(m) {
			for _, member := range f.archives.of(path, f.Limits) {
				if isAt(&member.Member, m) != at || *left == 0 {
					continue
				}
				*left--
				file, err := member.Open()
				if err != nil {
					continue
				}
				if !check(file) {
					file.Close()
				} else if !yield(opened{file, member.Name}) {
					return
				}
			}
		}
	}
}

// maxOpened bounds the members that are opened for one module of which nothing but its place is known.
const maxOpened = 1 << 10
