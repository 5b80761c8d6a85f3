// Package companion finds the files that belong to an ELF file: the separate debug file,
// dwz's supplementary file, .dwo files and .dwp packages. Open opens a file with all of
// these, and Close closes them.
//
//	m, warnings, err := companion.Open(ctx, []string{"app"}, companion.Search{})
//	if err != nil {
//		return err
//	}
//	defer m.Close()
//	info, err := m.Image.SectionData(".debug_info") // of app or of its debug file
//
// A companion that is missing is no error: a Warning says so, the Module says which places
// were searched, and the contents of the file itself can be read.
package companion

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"symkit/elfx"
)

// The reasons for which files are not one module.
var (
	// ErrNoFile: there are no files.
	ErrNoFile = errors.New("no ELF file")
	// ErrOther: two files are not one module.
	ErrOther = errors.New("is another module")
	// ErrOtherBuild: the second file is a debug file of another build.
	ErrOtherBuild = errors.New("not of one build")
)

// Module is an image with the files that belong to it.
type Module struct {
	Image      *elfx.Image
	Companions *Companions // nil if they were not looked for
	// Probes are the places that were searched for the debug file.
	Probes []Probe

	files []*elfx.File // those of the image that the Module owns
}

// Open opens the files at paths as one module, with the files that belong to it: a file, or
// a program and its debug file, in either order. Directories beside them are searched for
// debug files like those of Search.DebugDirs.
func Open(ctx context.Context, paths []string, s Search) (*Module, []Warning, error) {
	open := s.File
	if open == nil {
		open = elfx.Options{Limits: s.Limits}.Open
	}
	dirs := slices.Clone(s.DebugDirs)
	var files []*elfx.File
	for _, path := range paths {
		info, err := os.Stat(path) // opening the file explains the error
		if err == nil && info.IsDir() && len(paths) > 1 {
			dirs = append(dirs, path)
			continue
		}
		f, err := open(path)
		if err != nil {
			closeAll(files)
			return nil, nil, err
		}
		files = append(files, f)
	}
	s.DebugDirs = dirs
	return Join(ctx, files, s)
}

// Join is Open for files that are open. The Module owns the files, which Join closes if it
// fails.
func Join(ctx context.Context, files []*elfx.File, s Search) (*Module, []Warning, error) {
	img, err := join(files)
	if err != nil {
		closeAll(files)
		return nil, nil, err
	}
	m, warnings := Complete(ctx, img, s)
	m.files = append(m.files, files...)
	return m, warnings, nil
}

// join makes an image of the files.
func join(files []*elfx.File) (*elfx.Image, error) {
	switch len(files) {
	case 0:
		return nil, ErrNoFile
	case 1:
		return &elfx.Image{Main: files[0]}, nil
	case 2:
		a, b := files[0], files[1]

		// A debug file is not a module by itself, whatever its build id: the error of
		// elfx.Join says why it does not belong to the other file.
		if a.HoldsLoaded() != b.HoldsLoaded() || bytes.Equal(a.BuildID(), b.BuildID()) {
			img, err := elfx.Join(a, b)
			if err != nil {
				return nil, otherBuild{err}
			}
			return img, nil
		}
	}
	return nil, fmt.Errorf("%s: %w than %s", files[1].Path(), ErrOther, files[0].Path())
}

// otherBuild is the error of elfx.Join, as an ErrOtherBuild.
type otherBuild struct{ error }

func (otherBuild) Is(target error) bool { return target == ErrOtherBuild }
func (e otherBuild) Unwrap() error      { return e.error }

// Complete finds the files that belong to an image: the companions, and the debug file
// if the image has neither a debug file nor debug information. The caller closes the
// files of img after the Module.
func Complete(ctx context.Context, img *elfx.Image, s Search) (*Module, []Warning) {
	m := &Module{Image: img}
	var warnings []Warning
	if !s.Alone {
		if img.Debug == nil && !holds(img.Main, ".debug_info") {
			warnings = m.findDebug(ctx, s)
		}
		m.Companions = Find(ctx, m.Image, s)
	}
	return m, append(warnings, m.damage()...)
}

// findDebug searches for the debug file and joins it with the image.
func (m *Module) findDebug(ctx context.Context, s Search) (warnings []Warning) {
	main := m.Image.Main
	var debug *elfx.File
	debug, m.Probes = s.FindDebug(ctx, main)
	warnings = unused(m.Probes)
	if debug == nil {
		link, _ := readDebugLink(main) // the probes have the error
		if link.Name != "" {
			err := fmt.Errorf("%s: its debug file %s was not found: no functions, lines and inlined calls", main.Path(), link.Name)
			warnings = append(warnings, Warning{Missing, link.Name, DebugFile, err})
		}
		return warnings
	}

	// A debug file that does not belong to the image is reported, not used.
	m.files = append(m.files, debug)
	img, err := elfx.Join(main, debug)
	if err != nil {
		return append(warnings, Warning{Misfit, debug.Path(), DebugFile, err})
	}
	m.Image = img
	return warnings
}

// AllProbes returns the places where companions were looked for so far.
func (m *Module) AllProbes() []Probe {
	return slices.Concat(m.Probes, m.Companions.Probes())
}

// Paths returns the paths of the files that the module was read from. For a member of an
// archive that is the archive's path.
func (m *Module) Paths() (paths []string) {
	for _, f := range append(m.Companions.Files(), m.Image.Main, m.Image.Debug) {
		if f != nil {
			paths = append(paths, filePath(f))
		}
	}
	return paths
}

// Close closes the files that were found, and those of Open and Join.
func (m *Module) Close() {
	m.Companions.Close()
	closeAll(m.files)
}

func closeAll(files []*elfx.File) {
	for _, f := range files {
		f.Close()
	}
}

// holds reports whether f has the bytes of the named section.
func holds(f *elfx.File, name string) bool {
	s := f.Section(name)
	return s != nil && s.Present()
}
