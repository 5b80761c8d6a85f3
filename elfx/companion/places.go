package companion

import (
	"encoding/hex"
	"path/filepath"
	"strings"

	"symkit/elfx"
)

// DefaultDebugDir is where distributions install separate debug files.
const DefaultDebugDir = "/usr/lib/debug"

// Places is where companions are looked for, besides the places that the files
// name and their own directories. The zero value has none.
type Places struct {
	// DebugDirs are where debug files are installed, such as DefaultDebugDir.
	// A directory named .build-id may be given itself.
	DebugDirs []string
	// SplitDirs are where .dwo and .dwp files may have been moved.
	SplitDirs []string
	// Sysroots are directories that stand for the root directory: the
	// DefaultDebugDir below each counts as one of DebugDirs, absolute paths in
	// files are looked for below each, and the debug file of what lies below
	// one is looked for as if it lay below the root.
	Sysroots []string
	// Fetch gets the debug file with a build id from elsewhere and returns its
	// path; nil does not. An error that is fs.ErrNotExist says that it has none.
	Fetch func(buildID []byte) (path string, err error)
}

// debugDirs are the DebugDirs and those of the Sysroots.
func (p *Places) debugDirs() []string {
	dirs := p.DebugDirs[:len(p.DebugDirs):len(p.DebugDirs)]
	for _, root := range p.Sysroots {
		dirs = append(dirs, filepath.Join(root, DefaultDebugDir))
	}
	return dirs
}

// buildIDPaths lists where the debug file with a build id may be (GDB manual,
// "Separate Debug Files").
func (p *Places) buildIDPaths(id []byte) (paths []string) {
	const dirName = ".build-id"
	if len(id) < 2 {
		return nil
	}
	name := hex.EncodeToString(id)
	file := filepath.Join(name[:2], name[2:]+".debug")
	for _, dir := range p.debugDirs() {
		if filepath.Base(dir) == dirName {
			paths = append(paths, filepath.Join(dir, file))
		}
		paths = append(paths, filepath.Join(dir, dirName, file))
	}
	return paths
}

// linkPaths lists where the file that a debug link in f names may be.
func (p *Places) linkPaths(f *elfx.File, name string) (paths []string) {
	own := directories(f)
	for _, dir := range own {
		paths = append(paths, filepath.Join(dir, name), filepath.Join(dir, ".debug", name))
	}
	inside := p.inside(own)
	for _, debugDir := range p.debugDirs() {
		for _, dir := range inside {
			paths = append(paths, filepath.Join(debugDir, dir, name))
		}
	}
	for _, debugDir := range p.debugDirs() {
		paths = append(paths, filepath.Join(debugDir, name))
	}
	return paths
}

// inside lists how the directories are called in a directory of debug files:
// as they are; seen from the sysroot they are in; and without the /usr that
// merged file systems have put in front of what packages install.
func (p *Places) inside(dirs []string) (names []string) {
	for _, dir := range dirs {
		names = append(names, dir[len(filepath.VolumeName(dir)):])
		for _, root := range p.Sysroots {
			if rest, ok := below(root, dir); ok {
				names = append(names, rest)
			}
		}
	}
	for _, name := range names {
		if rest, ok := strings.CutPrefix(filepath.ToSlash(name), "/usr/"); ok {
			names = append(names, "/"+rest)
		}
	}
	return names
}

// below tells how path, which is absolute, is called if root is the root
// directory.
func below(root, path string) (rest string, ok bool) {
	root, err := filepath.Abs(root)
	if err != nil {
		return "", false
	}
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		real = root
	}
	for _, root := range []string{root, real} {
		rest, err := filepath.Rel(root, path)
		if err == nil && filepath.IsLocal(rest) {
			return string(filepath.Separator) + rest, true
		}
	}
	return "", false
}

// absolute lists where a file with an absolute path may be: below the sysroots,
// and there.
func (p *Places) absolute(path string) (paths []string) {
	for _, root := range p.Sysroots {
		paths = append(paths, filepath.Join(root, path))
	}
	return append(paths, path)
}

// altPaths lists where the supplementary file that a link in f names may be.
func (p *Places) altPaths(f *elfx.File, link elfx.AltLink) (paths []string) {
	if filepath.IsAbs(link.Path) {
		paths = p.absolute(link.Path)
	} else {
		for _, dir := range directories(f) {
			paths = append(paths, filepath.Join(dir, link.Path))
		}
	}
	for _, dir := range p.debugDirs() {
		paths = append(paths, filepath.Join(dir, ".dwz", filepath.Base(link.Path)))
		paths = append(paths, filepath.Join(dir, ".dwz", afterDwz(link.Path)))
	}
	return append(paths, p.buildIDPaths(link.ID)...)
}

// afterDwz is what follows the last .dwz/ in a path: Debian has a directory for
// each architecture there.
func afterDwz(path string) string {
	const dir = ".dwz/"
	path = filepath.ToSlash(path)
	if i := strings.LastIndex(path, dir); i >= 0 {
		return path[i+len(dir):]
	}
	return filepath.Base(path)
}

// splitPaths lists where the .dwo file of a unit of m may be: name, as
// DW_AT_dwo_name has it, relative to compDir, and in the directories given and
// those of the image's files.
func (p *Places) splitPaths(m *elfx.Image, compDir, name string) (paths []string) {
	switch {
	case filepath.IsAbs(name):
		paths = p.absolute(name)
	case filepath.IsAbs(compDir):
		paths = p.absolute(filepath.Join(compDir, name))
	}
	dirs := append(p.SplitDirs[:len(p.SplitDirs):len(p.SplitDirs)], dir(m.Main), dir(m.DWARF()))
	for _, dir := range dirs {
		if !filepath.IsAbs(name) {
			paths = append(paths, filepath.Join(dir, name))
			if !filepath.IsAbs(compDir) { // made by -fdebug-compilation-dir, for builds that can be moved
				paths = append(paths, filepath.Join(dir, compDir, name))
			}
		}
		paths = append(paths, filepath.Join(dir, filepath.Base(name)))
	}
	return paths
}

// packagePaths lists where the .dwp file of m may be: beside the binary and the
// debug file, named after them, in the directories for such files and in those
// of debug files, as GDB does.
func (p *Places) packagePaths(m *elfx.Image) (paths []string) {
	var names []string
	for _, f := range []*elfx.File{m.Main, m.DWARF()} {
		plain := strings.TrimSuffix(f.Path(), ".debug")
		for _, path := range []string{f.Path(), plain, strings.TrimSuffix(plain, filepath.Ext(plain))} {
			paths = append(paths, path+".dwp")
			names = append(names, filepath.Base(path)+".dwp")
		}
	}
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
