package companion

import (
	"sync"

	"symkit/elfx"
)

// Companions are the files, besides the debug file, that hold a part of an
// image's debug information: dwz's supplementary file, a .dwp package, .dwo
// files.
type Companions struct {
	// Alt is the file that .gnu_debugaltlink names, or nil.
	Alt *elfx.File

	image  *elfx.Image
	places Places

	lookUp sync.Once
	dwp    *elfx.File

	mu     sync.Mutex
	opened []*elfx.File
	probes []Probe
}

// Find looks for the image's companions. The caller closes them.
func Find(m *elfx.Image, places Places) *Companions {
	c := &Companions{image: m, places: places}
	// Debian's stripped programs still name the file, to which nothing in them
	// refers any more.
	if holds(m.DWARF(), ".debug_info") {
		c.Alt, c.probes = places.FindAlt(m.DWARF())
	}
	return c
}

// Files returns the companions that are open, in any order.
func (c *Companions) Files() (files []*elfx.File) {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.Alt != nil {
		files = append(files, c.Alt)
	}
	return append(files, c.opened...)
}

// OpenPackage opens the package of split DWARF (.dwp) of an image that has
// skeleton units, or returns nil when there is none; the file is closed with c.
// It is looked for once.
func (c *Companions) OpenPackage() *elfx.File {
	c.lookUp.Do(func() {
		c.dwp = c.first(c.places.packagePaths(c.image), Package, func(*elfx.File) error { return nil })
	})
	return c.dwp
}

// OpenSplit opens the .dwo file of a unit: name, as DW_AT_dwo_name has it,
// relative to compDir, else to the binary's directory, else in the directories
// given. It takes the first that accept, which may be called more than once, has
// no error for, and returns nil when there is none; the file is closed with c.
// It is safe for concurrent use.
func (c *Companions) OpenSplit(compDir, name string, accept func(*elfx.File) error) *elfx.File {
	return c.first(c.places.splitPaths(c.image, compDir, name), SplitFile, accept)
}

// first opens the first of the paths that is an ELF file for the image's
// machine and that accept takes.
func (c *Companions) first(paths []string, what Kind, accept func(*elfx.File) error) *elfx.File {
	tried := map[string]bool{}
	for _, path := range paths {
		if tried[path] {
			continue
		}
		tried[path] = true
		f, err := openFor(c.image.Main, path, accept)
		c.mu.Lock()
		c.probes = append(c.probes, Probe{path, err, what})
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

// Probes returns every place that was looked at.
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
