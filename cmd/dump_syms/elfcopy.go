package main

import (
	"io"
	"slices"

	"symkit/dump/store"
	"symkit/elfx"
	"symkit/internal/command"
)

// elfCopy is one of a module's ELF files and its places in the store.
type elfCopy struct {
	debug bool // it is the separate debug file, not the main file
	kind  store.Kind
	paths []string // in the store
}

// elfCopies returns the places of the opened module's ELF files in the store.
func (j *job) elfCopies(place store.Module) (copies []elfCopy, err error) {
	for i, f := range []*elfx.File{j.in.Image.Main, j.in.Image.Debug} {
		if f == nil {
			continue
		}

		// An ELF file without loaded contents is a debug file, even if it was given alone.
		c := elfCopy{debug: i == 1, kind: store.Executable}
		if c.debug || !f.HoldsLoaded() {
			c.kind = store.DebugInfo
		}
		c.paths, err = j.b.store.Paths(place, c.kind)
		if err != nil {
			return nil, err
		}

		// GDB looks for debug information in BUILDID.debug only, so a program that has
		// its debug information inside is stored under that name, too.
		inside := j.in.Image.Debug == nil && f.Section(".debug_info") != nil
		if j.Layout == "gdb" && c.kind == store.Executable && inside {
			more, err := j.b.store.Paths(place, store.DebugInfo)
			if err != nil {
				return nil, err
			}
			c.paths = append(c.paths, more...)
		}
		copies = append(copies, c)
	}
	return copies, nil
}

// copyELF puts the ELF files of the opened module into the store.
func (j *job) copyELF() error {
	for _, c := range j.elf {
		f := j.in.Image.Main
		if c.debug {
			f = j.in.Image.Debug
		}

		// A file that is read from the store itself is there already.
		paths := slices.DeleteFunc(slices.Clone(c.paths), func(path string) bool {
			return command.Clobbers(j.b.store.Path(path), nil, f.Path()) != nil
		})
		if len(paths) == 0 {
			continue
		}

		// A file that changed while it was copied must not be stored.
		_, err := j.b.store.Put(paths, c.kind, func(w io.Writer) error {
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
