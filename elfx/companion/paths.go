package companion

import (
	"context"
	"encoding/hex"
	"path/filepath"
	"strings"

	"symkit/elfx"
	"symkit/limits"
)

// debugSuffix is the end of the names of debug files.
const debugSuffix = ".debug"

// DefaultDebugDir is the directory where distributions install separate debug files.
const DefaultDebugDir = "/usr/lib/debug"

// Search says where companions are looked for, besides the paths in the files and the
// files' own directories.
type Search struct {
	// DebugDirs are directories of debug files, or directories named .build-id. If it is nil
	// and there are no Sysroots, it is DefaultDebugDir.
	DebugDirs []string
	// SplitDirs are directories that .dwo and .dwp files may have been moved to.
	SplitDirs []string
	// Sysroots are directories that replace the root directory. DefaultDebugDir below
	// each of them is one of the DebugDirs, absolute paths in files are searched for
	// below each of them, and the debug file of a file below one of them is searched
	// for as if the file were below the root directory.
	Sysroots []string
	// Open, if not nil, opens the file with a build id among the files that the caller
	// has, such as those of packages. It returns nil if there is no such file.
	Open func(buildID []byte) *elfx.File
	// Fetch, if not nil, gets the debug file with a build id from a server and returns
	// its path. The error is fs.ErrNotExist if there is no such file.
	Fetch func(ctx context.Context, buildID []byte) (path string, err error)
	// File, if not nil, opens the files at the paths of the function Open, such as members
	// of archives. The default is elfx.Open with Limits.
	File func(path string) (*elfx.File, error)
	// Limits are those that files are opened with. Companions have the limits of the file
	// that they belong to.
	Limits limits.Limits
	// Alone leaves out the search: the module is the files that are given.
	Alone bool
}

// debugDirs returns the DebugDirs and those of the Sysroots.
func (p *Search) debugDirs() []string {
	dirs := p.DebugDirs[:len(p.DebugDirs):len(p.DebugDirs)]
	if dirs == nil && len(p.Sysroots) == 0 {
		dirs = []string{DefaultDebugDir}
	}
	for _, root := range p.Sysroots {
		dirs = append(dirs, filepath.Join(root, DefaultDebugDir))
	}
	return dirs
}

// BuildIDPaths returns the possible paths of the file with a build id in the directories of
// debug files (GDB manual, "Separate Debug Files"). suffix is .debug for the debug file.
func (p *Search) BuildIDPaths(id []byte, suffix string) (paths []string) {
	const dirName = ".build-id"
	if len(id) < 2 {
		return nil
	}

	// The first byte of the build id is the directory, the rest is the file name.
	name := hex.EncodeToString(id)
	file := filepath.Join(name[:2], name[2:]+suffix)
	for _, dir := range p.debugDirs() {
		if filepath.Base(dir) == dirName {
			paths = append(paths, filepath.Join(dir, file))
		}
		paths = append(paths, filepath.Join(dir, dirName, file))
	}
	return paths
}

// linkPaths returns the possible paths of the file that f's debug link names.
func (p *Search) linkPaths(f *elfx.File, name string) (paths []string) {
	// Beside the file, and in .debug below its directory.
	own := directories(f)
	for _, dir := range own {
		paths = append(paths, filepath.Join(dir, name), filepath.Join(dir, ".debug", name))
	}

	// Below each directory of debug files, in the mirrored directory of the file.
	inside := p.inside(own)
	for _, debugDir := range p.debugDirs() {
		for _, dir := range inside {
			paths = append(paths, filepath.Join(debugDir, dir, name))
		}
	}

	// At last, in the directories of debug files themselves.
	for _, debugDir := range p.debugDirs() {
		paths = append(paths, filepath.Join(debugDir, name))
	}
	return paths
}

// inside returns the names of directories below a directory of debug files: the absolute
// path, the path relative to the sysroot, and both without the /usr that merged file
// systems have added to the paths of packages.
func (p *Search) inside(dirs []string) (names []string) {
	for _, dir := range dirs {
		names = append(names, dir[len(filepath.VolumeName(dir)):])
		for _, root := range p.Sysroots {
			if rest, ok := below(root, dir); ok {
				names = append(names, rest)
			}
		}
	}

	// Packages may have their debug files under the paths without /usr.
	for _, name := range names {
		if rest, ok := strings.CutPrefix(filepath.ToSlash(name), "/usr/"); ok {
			names = append(names, "/"+rest)
		}
	}
	return names
}

// below returns the name that the absolute path has if root is the root directory; ok is
// false if path is not below root.
func below(root, path string) (rest string, ok bool) {
	root, err := filepath.Abs(root)
	if err != nil {
		return "", false
	}
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		real = root
	}

	// The path may have symbolic links resolved that root has not.
	for _, root := range []string{root, real} {
		rest, err := filepath.Rel(root, path)
		if err == nil && filepath.IsLocal(rest) {
			return string(filepath.Separator) + rest, true
		}
	}
	return "", false
}

// absolute returns the possible paths of a file with an absolute path: below each
// sysroot, and the path itself.
func (p *Search) absolute(path string) (paths []string) {
	for _, root := range p.Sysroots {
		paths = append(paths, filepath.Join(root, path))
	}
	return append(paths, path)
}

// altPaths returns the possible paths of the supplementary file that link, in f, names.
func (p *Search) altPaths(f *elfx.File, link AltLink) (paths []string) {
	// The path in the link, absolute or relative to the file.
	if filepath.IsAbs(link.Path) {
		paths = p.absolute(link.Path)
	} else {
		for _, dir := range directories(f) {
			paths = append(paths, filepath.Join(dir, link.Path))
		}
	}

	// dwz's files in the directories of debug files, with and without subdirectories.
	for _, dir := range p.debugDirs() {
		paths = append(paths, filepath.Join(dir, ".dwz", filepath.Base(link.Path)))
		paths = append(paths, filepath.Join(dir, ".dwz", afterDwz(link.Path)))
	}
	return append(paths, p.BuildIDPaths(link.ID, debugSuffix)...)
}

// afterDwz returns the part of a path after the last .dwz/. Debian has a directory for
// each architecture in it.
func afterDwz(path string) string {
	const dir = ".dwz/"
	path = filepath.ToSlash(path)
	if i := strings.LastIndex(path, dir); i >= 0 {
		return path[i+len(dir):]
	}
	return filepath.Base(path)
}

// splitPaths returns the possible paths of the .dwo file of a unit of m: name, the value
// of DW_AT_dwo_name, relative to compDir, to the SplitDirs and to the directories of the
// image's files.
func (p *Search) splitPaths(m *elfx.Image, compDir, name string) (paths []string) {
	// First the path that the compiler wrote.
	switch {
	case filepath.IsAbs(name):
		paths = p.absolute(name)
	case filepath.IsAbs(compDir):
		paths = p.absolute(filepath.Join(compDir, name))
	}

	// Then the directories that the files may have been moved to.
	dirs := append(p.SplitDirs[:len(p.SplitDirs):len(p.SplitDirs)], dir(m.Main), dir(m.DWARF()))
	for _, dir := range dirs {
		if !filepath.IsAbs(name) {
			paths = append(paths, filepath.Join(dir, name))
			if !filepath.IsAbs(compDir) { // from -fdebug-compilation-dir, for relocatable builds
				paths = append(paths, filepath.Join(dir, compDir, name))
			}
		}
		paths = append(paths, filepath.Join(dir, filepath.Base(name)))
	}
	return paths
}

// packagePaths returns the possible paths of m's .dwp file, which is named after the
// binary or the debug file: their directories, the SplitDirs, and the directories of
// debug files, as in GDB.
func (p *Search) packagePaths(m *elfx.Image) (paths []string) {
	// The package is named after the file, with or without its suffixes.
	var names []string
	for _, f := range []*elfx.File{m.Main, m.DWARF()} {
		plain := strings.TrimSuffix(f.Path(), ".debug")
		for _, path := range []string{f.Path(), plain, strings.TrimSuffix(plain, filepath.Ext(plain))} {
			paths = append(paths, path+".dwp")
			names = append(names, filepath.Base(path)+".dwp")
		}
	}

	// Directories beside those of the files themselves.
	dirs := p.SplitDirs[:len(p.SplitDirs):len(p.SplitDirs)]
	inside := p.inside(directories(m.Main))
	for _, debugDir := range p.debugDirs() {
		for _, dir := range inside {
			dirs = append(dirs, filepath.Join(debugDir, dir))
		}
		dirs = append(dirs, debugDir)
	}

	for _, dir := range dirs {
		for _, name := range names {
			paths = append(paths, filepath.Join(dir, name))
		}
	}
	return paths
}
