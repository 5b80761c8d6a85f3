package elfx

import "sync"

// Companions are the files, besides the debug file, that hold a part of an
// image's debug information: dwz's supplementary file, a .dwp package, .dwo
// files.
type Companions struct {
	// Alt is the file that .gnu_debugaltlink names, or nil.
	Alt *File
	// DWP is the package of split DWARF, or nil.
	DWP *File

	image  *Image
	places Places

	mu     sync.Mutex
	opened []*File
	probes []Probe
}

// FindCompanions looks for the image's companions. The caller closes them.
func (m *Image) FindCompanions(places Places) *Companions {
	c := &Companions{image: m, places: places}
	c.Alt, c.probes = places.FindAlt(m.DWARF())
	if s := m.DWARF().Section(".debug_info"); s != nil && s.Present() {
		c.DWP = c.first(places.packagePaths(m), Package)
	}
	return c
}

// OpenSplit opens the .dwo file of a unit: name, as DW_AT_dwo_name has it,
// relative to compDir, else to the binary's directory, else in the directories
// given. It returns nil when there is none; the file is closed with c. It is
// safe for concurrent use.
func (c *Companions) OpenSplit(compDir, name string) *File {
	return c.first(c.places.splitPaths(c.image, compDir, name), SplitFile)
}

// first opens the first of the paths that is an ELF file for the image's
// machine.
func (c *Companions) first(paths []string, what Companion) *File {
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
