// Package companion finds the files that belong to an ELF file: the separate debug file,
// dwz's supplementary file, .dwo files and .dwp packages. OpenModule opens a file with
// all of these, and Close closes them.
//
//	m, err := companion.OpenModule("app", companion.Places{DebugDirs: []string{companion.DefaultDebugDir}})
//	if err != nil {
//		return err
//	}
//	defer m.Close()
//	info, err := m.Image.SectionData(".debug_info") // of app or of its debug file
//
// A companion that is missing is no error: the Module says which places were searched, and
// the contents of the file itself can be read.
package companion

import "symkit/elfx"

// Module is an image with the files that belong to it.
type Module struct {
	Image      *elfx.Image
	Companions *Companions

	// DebugProbes are the places that were searched for the debug file.
	DebugProbes []Probe
	// MissingDebug is the name in the file's .gnu_debuglink if the debug file was
	// not found, else "".
	MissingDebug string
	// Mismatch is the reason for which a debug file that was found is not used, or nil.
	Mismatch error

	main  *elfx.File // the image's file if the Module owns it, or nil
	debug *elfx.File // the debug file that was found, or nil
}

// OpenModule opens the file at path with the files that belong to it.
func OpenModule(path string, places Places) (*Module, error) {
	f, err := elfx.Options{Limits: places.Limits}.Open(path)
	if err != nil {
		return nil, err
	}
	m := Complete(&elfx.Image{Main: f}, places)
	m.main = f
	return m, nil
}

// Alone makes a module of f without a search for its debug file. The Module owns f.
func Alone(f *elfx.File, places Places) *Module {
	img := &elfx.Image{Main: f}
	return &Module{Image: img, Companions: Find(img, places), main: f}
}

// Complete finds the files that belong to an image: the companions, and the debug file
// if the image has neither a debug file nor debug information. The caller closes the
// files of img after the Module.
func Complete(img *elfx.Image, places Places) *Module {
	m := &Module{Image: img}
	if img.Debug == nil && !holds(img.Main, ".debug_info") {
		m.findDebug(places)
	}
	m.Companions = Find(m.Image, places)
	return m
}

// findDebug searches for the debug file and joins it with the image.
func (m *Module) findDebug(places Places) {
	main := m.Image.Main
	m.debug, m.DebugProbes = places.FindDebug(main)
	if m.debug == nil {
		link, _ := ReadDebugLink(main) // the probes have the error
		m.MissingDebug = link.Name
		return
	}

	// A debug file that does not belong to the image is reported, not used.
	img, err := elfx.Join(main, m.debug)
	if err != nil {
		m.Mismatch = err
		return
	}
	m.Image = img
}

// Close closes the files that were found, and the file of OpenModule or Alone.
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
