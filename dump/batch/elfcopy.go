package batch

import (
	"io"
	"slices"

	"symkit/dump/single"
	"symkit/dump/store"
	"symkit/elfx"
	"symkit/internal/atomicfile"
)

// elfCopy is one of a module's ELF files and its places in the store.
type elfCopy struct {
	debug bool // it is the separate debug file, not the main file
	kind  store.Kind
	paths []string // in the store
}

// elfCopies returns the places of a module's ELF files in a store. GDB's layout has two for a program with debug
// information. A server that takes no programs takes those with debug information in the place of debug files.
func elfCopies(m *single.Module, s *store.Store, place store.Module, gdb bool) (copies []elfCopy, err error) {
	for i, f := range []*elfx.File{m.Image.Main, m.Image.Debug} {
		if f == nil {
			continue
		}

		// An ELF file without loaded contents is a debug file, even if it was given alone.
		c := elfCopy{debug: i == 1, kind: store.Executable}
		if c.debug || !f.HoldsLoaded() {
			c.kind = store.DebugInfo
		}
		c.paths, err = s.Paths(place, c.kind)
		if err != nil {
			return nil, err
		}

		// GDB looks for debug information in BUILDID.debug only, so a program that has
		// its debug information inside is stored under that name, too.
		inside := m.Image.Debug == nil && f.Section(".debug_info") != nil
		if (gdb || len(c.paths) == 0) && c.kind == store.Executable && inside {
			more, err := s.Paths(place, store.DebugInfo)
			if err != nil {
				return nil, err
			}
			c.paths = append(c.paths, more...)
		}
		if len(c.paths) > 0 {
			copies = append(copies, c)
		}
	}
	return copies, nil
}

// copyELF puts the ELF files of an opened module into a store.
func copyELF(m *single.Module, s *store.Store, copies []elfCopy) error {
	for _, c := range copies {
		f := m.Image.Main
		if c.debug {
			f = m.Image.Debug
		}

		// A file that is read from the store itself is there already.
		paths := slices.DeleteFunc(slices.Clone(c.paths), func(path string) bool {
			return atomicfile.Clobbers(s.Path(path), nil, f.Path()) != nil
		})
		if len(paths) == 0 {
			continue
		}

		// A file that changed while it was copied must not be stored.
		_, err := s.Put(paths, c.kind, func(w io.Writer) error {
			if _, err := f.WriteTo(w); err != nil {
				return err
			}
			return f.Unchanged()
		})
		if err != nil {
			return err
		}
	}
	return nil
}
