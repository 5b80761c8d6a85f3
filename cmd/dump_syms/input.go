package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"symkit/elfx"
	"symkit/elfx/debuginfod"
)

// input is the module to dump and how it was put together.
type input struct {
	img      *elfx.Image
	others   *elfx.Companions
	probes   []elfx.Probe // where the debug file was looked for
	missing  bool         // a debug file belongs to it and was not found
	warnings []string
}

// open opens the files among the paths. A directory is one to look for debug
// files in; of two files with the same build id one is the other's companion.
func (c *cli) open(ctx context.Context) (*input, error) {
	dirs := c.DebugDir
	var files []*elfx.File
	for _, path := range c.Paths {
		if info, err := os.Stat(path); err == nil && info.IsDir() && len(c.Paths) > 1 {
			dirs = append(dirs, path)
			continue
		}
		f, err := c.openFile(path)
		if err != nil {
			closeAll(files)
			return nil, err
		}
		files = append(files, f)
	}
	if len(dirs) == 0 {
		dirs = []string{elfx.DefaultDebugDir}
	}
	in, err := join(files)
	if err != nil {
		closeAll(files)
		return nil, err
	}
	if in.img.Debug == nil && !c.Header {
		in.find(ctx, dirs)
	}
	if !c.Header {
		in.others = in.img.FindCompanions(dirs, c.DWODir)
	}
	for _, err := range in.losses() {
		in.warnings = append(in.warnings, err.Error())
	}
	return in, nil
}

// openFile opens an ELF file, or the member of the archive at path.
func (c *cli) openFile(path string) (*elfx.File, error) {
	if c.Member != "" {
		return elfx.OpenMember(path, c.Member)
	}
	f, err := elfx.Open(path)
	if errors.Is(err, elfx.ErrNotELF) {
		if names := members(path); names != "" {
			return nil, fmt.Errorf("%s: is an archive; choose with --member one of: %s", path, names)
		}
	}
	return f, err
}

// members lists some of the ELF files in an archive.
func members(path string) string {
	var names []string
	for m, err := range elfx.Members(path) {
		if err != nil || len(names) > 20 {
			break
		}
		names = append(names, m.Name)
	}
	return strings.Join(names, ", ")
}

// join makes one module of the files, or tells why they are not one.
func join(files []*elfx.File) (*input, error) {
	switch len(files) {
	case 0:
		return nil, fmt.Errorf("no file among the arguments: every one is a directory")
	case 1:
		return &input{img: &elfx.Image{Main: files[0]}}, nil
	case 2:
		a, b := files[0], files[1]
		if a.BuildID() != nil && bytes.Equal(a.BuildID(), b.BuildID()) || a.BuildID() == nil && b.BuildID() == nil {
			img, err := elfx.Join(a, b)
			if err != nil {
				return nil, err
			}
			return &input{img: img}, nil
		}
	}
	return nil, errors.New("several modules need --store")
}

// find looks for the debug file of a binary that has no debug information.
func (in *input) find(ctx context.Context, dirs []string) {
	main := in.img.Main
	if s := main.Section(".debug_info"); s != nil && s.Present() {
		return
	}
	found, probes := main.FindDebug(dirs)
	in.probes = probes
	for _, p := range probes {
		if p.Rejected() {
			in.warnings = append(in.warnings, fmt.Sprintf("%s: not used: %v", p.Path, p.Err))
		}
	}
	if found == nil {
		found = in.fetch(ctx)
	}
	if found == nil {
		link, _ := main.DebugLink()
		if in.missing = link.Name != ""; in.missing {
			in.warnings = append(in.warnings, fmt.Sprintf(
				"%s: its debug file %s was not found: no functions, lines and inlined calls; give it, or --debug-dir",
				main.Path(), link.Name))
		}
		return
	}
	img, err := elfx.Join(main, found)
	if err != nil {
		found.Close()
		in.missing = true
		in.warnings = append(in.warnings, err.Error())
		return
	}
	in.img = img
}

// fetch asks the debuginfod servers of the environment for the debug file.
func (in *input) fetch(ctx context.Context) *elfx.File {
	client, err := debuginfod.FromEnv()
	if err != nil {
		in.warnings = append(in.warnings, err.Error())
	}
	id := in.img.Main.BuildID()
	if client == nil || id == nil {
		return nil
	}
	path, err := client.Find(ctx, id, debuginfod.DebugInfo)
	if err == nil {
		var f *elfx.File
		if f, err = elfx.Open(path); err == nil {
			in.probes = append(in.probes, elfx.Probe{Path: path})
			return f
		}
	}
	in.probes = append(in.probes, elfx.Probe{Path: "debuginfod", Err: err})
	if !errors.Is(err, debuginfod.ErrNotFound) {
		in.warnings = append(in.warnings, fmt.Sprintf("%s: debuginfod: %v", in.img.Main.Path(), err))
	}
	return nil
}

// losses is the damage that opening worked around.
func (in *input) losses() []error {
	errs := in.img.Main.Losses()
	if in.img.Debug != nil {
		errs = append(errs, in.img.Debug.Losses()...)
	}
	return errs
}

// describe lists where companions were looked for.
func (in *input) describe(w io.Writer) {
	probes := in.probes
	if in.others != nil {
		probes = append(probes, in.others.Probes()...)
	}
	for _, p := range probes {
		if p.Err == nil {
			fmt.Fprintf(w, "dump_syms: companion: %s\n", p.Path)
		} else {
			fmt.Fprintf(w, "dump_syms: companion: %s: %v\n", p.Path, p.Err)
		}
	}
}

// Close closes all files.
func (in *input) Close() {
	in.others.Close()
	in.img.Close()
}

func closeAll(files []*elfx.File) {
	for _, f := range files {
		f.Close()
	}
}
