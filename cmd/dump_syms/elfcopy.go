package main

import (
	"io"
	"slices"

	"symkit/dump/store"
	"symkit/elfx"
	"symkit/internal/command"
)

// elfCopy is one of a module's ELF files and its place in the store.
type elfCopy struct {
	debug bool // the separate debug file, not the main file
	kind  store.Kind
	paths []string
}

// elfCopies tells where the ELF files of the opened module belong.
func (j *job) elfCopies(place store.Module) (copies []elfCopy, err error) {
	for i, f := range []*elfx.File{j.in.img.Main, j.in.img.Debug} {
		if f == nil {
			continue
		}
		c := elfCopy{debug: i == 1, kind: store.Executable}
		if c.debug || !f.HoldsLoaded() {
			c.kind = store.DebugInfo
		}
		if c.paths, err = j.b.store.Paths(place, c.kind); err != nil {
			return nil, err
		}
		if j.Layout == "gdb" && c.kind == store.Executable && j.in.img.Debug == nil && f.Section(".debug_info") != nil {
			// For debug information GDB looks at BUILDID.debug alone.
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
		f := j.in.img.Main
		if c.debug {
			f = j.in.img.Debug
		}
		paths := slices.DeleteFunc(slices.Clone(c.paths), func(path string) bool {
			return command.Clobbers(j.b.store.Path(path), nil, f.Path()) != nil // it lies there already
		})
		if len(paths) == 0 {
			continue
		}
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
