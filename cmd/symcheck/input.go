package main

import (
	"fmt"
	"io/fs"
	"os"

	"symkit/elfx"
)

// open opens the ELF files among the paths. A directory is one to look for
// debug files in.
func (c *replayCmd) open(e *env) (*elfx.Image, error) {
	dirs := c.DebugDir
	var files []*elfx.File
	closeAll := func() {
		for _, f := range files {
			f.Close()
		}
	}
	for _, path := range c.Files {
		if info, err := os.Stat(path); err == nil && info.IsDir() && len(c.Files) > 1 {
			dirs = append(dirs, path)
			continue
		}
		f, err := elfx.Open(path)
		if err != nil {
			closeAll()
			return nil, err
		}
		files = append(files, f)
	}
	if len(files) == 0 || len(files) > 2 {
		closeAll()
		return nil, fmt.Errorf("want one ELF file, or a program and its debug file; there are %d", len(files))
	}
	files = append(files, nil)
	img, err := elfx.Join(files[0], files[1])
	if err != nil {
		files = files[:2]
		closeAll()
		return nil, err
	}
	if img.Debug == nil {
		findDebug(e, img, dirs)
	}
	return img, nil
}

// findDebug looks for the debug file of a program without debug information.
func findDebug(e *env, img *elfx.Image, dirs []string) {
	if s := img.Main.Section(".debug_info"); s != nil && s.Present() {
		return
	}
	if len(dirs) == 0 {
		dirs = []string{elfx.DefaultDebugDir}
	}
	found, probes := img.Main.FindDebug(dirs)
	for _, p := range probes {
		if p.Rejected() {
			fmt.Fprintf(e.stderr, "symcheck: warning: %s: not used: %v\n", p.Path, p.Err)
		}
	}
	if found == nil {
		return
	}
	joined, err := elfx.Join(img.Main, found)
	if err != nil {
		found.Close()
		fmt.Fprintf(e.stderr, "symcheck: warning: %v\n", err)
		return
	}
	*img = *joined
}

// symData is an opened symbol file.
type symData struct {
	bytes  []byte
	mapped bool
}

// openSym maps the file at path, or reads it where it cannot be mapped.
func openSym(path string) (*symData, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, withoutPath(err))
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, withoutPath(err))
	}
	if info.IsDir() {
		return nil, fmt.Errorf("%s: %w", path, errIsDir)
	}
	if data, ok := mapFile(f, info); ok {
		return &symData{data, true}, nil
	}
	data, err := readAll(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, withoutPath(err))
	}
	return &symData{data, false}, nil
}

// withoutPath is the cause of an error that names its path itself.
func withoutPath(err error) error {
	if e, ok := err.(*fs.PathError); ok {
		return e.Err
	}
	return err
}
