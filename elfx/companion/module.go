// Package companion finds the files that belong to an ELF file: the separate
// debug file, dwz's supplementary file, .dwo files and .dwp packages. OpenModule
// opens a file with all of them.
package companion

import "symkit/elfx"

// Module is an image with the files that belong to it.
type Module struct {
	Image      *elfx.Image
	Companions *Companions

	// DebugProbes are the places where the debug file was looked for.
	DebugProbes []Probe
	// MissingDebug is the name in the file's .gnu_debuglink if the debug file
	// was looked for and not found.
	MissingDebug string
	// Mismatch is why the debug file that was found is not used, or nil.
	Mismatch error

	main  *elfx.File // given to be closed, or nil
	debug *elfx.File // found, or nil
}

// OpenModule opens the file at path with what belongs to it.
func OpenModule(path string, places Places) (*Module, error) {
	f, err := elfx.Open(path)
	if err != nil {
		return nil, err
	}
	m := Complete(&elfx.Image{Main: f}, places)
	m.main = f
	return m, nil
}

// Alone is for a file that is a module without a debug file. The Module closes
// it.
func Alone(f *elfx.File, places Places) *Module {
	img := &elfx.Image{Main: f}
	return &Module{Image: img, Companions: Find(img, places), main: f}
}

// Complete finds what belongs to an image: the debug file, if the image has none
// and no debug information, and the companions. The files of img stay the
// caller's to close, after the Module.
func Complete(img *elfx.Image, places Places) *Module {
	m := &Module{Image: img}
	if img.Debug == nil && !holds(img.Main, ".debug_info") {
		m.findDebug(places)
	}
	m.Companions = Find(m.Image, places)
	return m
}

// findDebug looks for the debug file and joins it with the image.
func (m *Module) findDebug(places Places) {
	main := m.Image.Main
	m.debug, m.DebugProbes = places.FindDebug(main)
	if m.debug == nil {
		link, _ := main.DebugLink() // an error is among the probes
		m.MissingDebug = link.Name
		return
	}
	img, err := elfx.Join(main, m.debug)
	if err != nil {
		m.Mismatch = err
		return
	}
	m.Image = img
}

// Close closes the files that were found, and the one of OpenModule or Alone.
func (m *Module) Close() {
	m.Companions.Close()
	for _, f := range []*elfx.File{m.debug, m.main} {
		if f != nil {
			f.Close()
		}
	}
}

// holds reports whether f has the bytes of the named section.
func holds(f *elfx.File, name string) bool {
	s := f.Section(name)
	return s != nil && s.Present()
}
