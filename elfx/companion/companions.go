package companion

import (
	"context"
	"sync"

	"symkit/elfx"
)

// Companions are the files, besides the debug file, that have part of an image's debug
// information: dwz's supplementary file, a .dwp package, .dwo files.
type Companions struct {
	// Alt is the file that .gnu_debugaltlink names, or nil.
	Alt *elfx.File

	image  *elfx.Image
	search Search

	dwp func() *elfx.File // opens the package on the first call

	mu     sync.Mutex
	opened []*elfx.File
	splits map[splitKey]*elfx.File // those of opened that OpenSplit has returned
	probes []Probe
}

// splitKey is what a skeleton says of its .dwo file.
type splitKey struct{ compDir, name string }

// Find looks for the image's companions. The caller closes the result.
func Find(ctx context.Context, m *elfx.Image, search Search) *Companions {
	c := &Companions{image: m, search: search, splits: map[splitKey]*elfx.File{}}
	c.dwp = sync.OnceValue(c.findPackage)

	// Debian's stripped programs still name the supplementary file, but nothing in
	// the programs refers to it.
	if holds(m.DWARF(), ".debug_info") {
		c.Alt, c.probes = search.findAlt(ctx, m.DWARF())
	}
	return c
}

// Files returns the open companions in any order.
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

// OpenPackage returns the package of split DWARF (.dwp) of an image that has skeleton
// units, or nil. The first call opens the file; Close closes it.
func (c *Companions) OpenPackage() *elfx.File { return c.dwp() }

func (c *Companions) findPackage() *elfx.File {
	return c.first(c.search.packagePaths(c.image), Package, func(*elfx.File) error { return nil })
}

// OpenSplit opens the .dwo file of a unit, or returns nil. The path is name, the value
// of DW_AT_dwo_name, relative to compDir, else to the binary's directory, else to
// Search.SplitDirs. The result is the first file for which accept returns nil; accept
// can be called several times. Close closes the file, which is opened once. OpenSplit is
// safe for concurrent use.
func (c *Companions) OpenSplit(compDir, name string, accept func(*elfx.File) error) *elfx.File {
	key := splitKey{compDir, name}
	c.mu.Lock()
	f := c.splits[key]
	c.mu.Unlock()
	if f != nil && accept(f) == nil {
		return f
	}
	f = c.first(c.search.splitPaths(c.image, compDir, name), splitFile, accept)
	if f != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.splits[key] = f
	}
	return f
}

// first opens the first of the paths that is an ELF file for the image's machine and
// that accept accepts. The file may be the image's own: -gsplit-dwarf=single keeps the
// split DWARF of an object in the object.
func (c *Companions) first(paths []string, what Kind, accept func(*elfx.File) error) *elfx.File {
	// The search runs without the lock: it opens files.
	s := &attempt{file: c.image.Main, what: what, own: true}
	f := s.first(paths, accept)

	c.mu.Lock()
	defer c.mu.Unlock()

	c.probes = append(c.probes, s.probes...)
	if f != nil {
		c.opened = append(c.opened, f)
	}
	return f
}

// Probes returns all places that were searched so far.
func (c *Companions) Probes() []Probe {
	if c == nil {
		return nil
	}
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
