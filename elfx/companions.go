package elfx

import (
	"path/filepath"
	"strings"
	"sync"
)

// Companions are the files, besides the debug file, that hold a part of an
// image's debug information: dwz's supplementary file, a .dwp package, .dwo
// files.
type Companions struct {
	// Alt is the file that .gnu_debugaltlink names, or nil.
	Alt *File
	// DWP is the package of split DWARF, or nil.
	DWP *File

	image *Image
	dirs  []string

	mu     sync.Mutex
	opened []*File
	probes []Probe
}

// FindCompanions looks for the image's companions. debugDirs are where debug
// files are installed, splitDirs where .dwo and .dwp files may have been moved.
// The caller closes them.
func (m *Image) FindCompanions(debugDirs, splitDirs []string) *Companions {
	c := &Companions{image: m, dirs: splitDirs}
	c.Alt, c.probes = m.DWARF().FindAlt(debugDirs)
	c.DWP = c.findPackage()
	return c
}

// findPackage looks for the .dwp file: beside the binary and the debug file,
// named after them, and in the directories.
func (c *Companions) findPackage() *File {
	if s := c.image.DWARF().Section(".debug_info"); s == nil || !s.Present() {
		return nil
	}
	var paths []string
	for _, f := range []*File{c.image.Main, c.image.DWARF()} {
		plain := strings.TrimSuffix(f.path, ".debug")
		plain = strings.TrimSuffix(plain, filepath.Ext(plain))
		for _, base := range []string{f.path, strings.TrimSuffix(f.path, ".debug"), plain} {
			paths = append(paths, base+".dwp")
			for _, dir := range c.dirs {
				paths = append(paths, filepath.Join(dir, filepath.Base(base)+".dwp"))
			}
		}
	}
	return c.first(paths)
}

// OpenSplit opens the .dwo file of a unit: name, as DW_AT_dwo_name has it,
// relative to compDir, else to the binary's directory, else in the directories
// given. It returns nil when there is none; the file is closed with c. It is
// safe for concurrent use.
func (c *Companions) OpenSplit(compDir, name string) *File {
	var paths []string
	base := filepath.Base(name)
	switch {
	case filepath.IsAbs(name):
		paths = append(paths, name)
	case filepath.IsAbs(compDir):
		paths = append(paths, filepath.Join(compDir, name))
	}
	dirs := append(c.dirs[:len(c.dirs):len(c.dirs)], filepath.Dir(c.image.Main.path), filepath.Dir(c.image.DWARF().path))
	for _, dir := range dirs {
		if !filepath.IsAbs(name) {
			paths = append(paths, filepath.Join(dir, name))
		}
		paths = append(paths, filepath.Join(dir, base))
	}
	return c.first(paths)
}

// first opens the first of the paths that is an ELF file for the image's
// machine.
func (c *Companions) first(paths []string) *File {
	tried := map[string]bool{}
	for _, path := range paths {
		if tried[path] {
			continue
		}
		tried[path] = true
		f, err := open(path)
		if err == nil && !f.sameMachine(c.image.Main) {
			f.Close()
			err = ErrOtherMachine
		}
		c.mu.Lock()
		c.probes = append(c.probes, Probe{path, err})
		if err == nil {
			c.opened = append(c.opened, f)
		}
		c.mu.Unlock()
		if err == nil {
			return f
		}
	}
	return nil
}

// Probes tells every place that was looked at.
func (c *Companions) Probes() []Probe {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.probes[:len(c.probes):len(c.probes)]
}

// Close closes the files.
func (c *Companions) Close() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.Alt != nil {
		c.Alt.Close()
	}
	for _, f := range c.opened {
		f.Close()
	}
	c.opened = nil
}
