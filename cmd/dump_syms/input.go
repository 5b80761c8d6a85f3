package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"symkit/elfx"
	"symkit/elfx/archive"
	"symkit/elfx/companion"
	"symkit/internal/command"
)

// input is the module to dump and how it was put together.
type input struct {
	img      *elfx.Image
	found    *companion.Module     // what belongs to img; nil: it was not looked for
	others   *companion.Companions // of found, or nil
	probes   []companion.Probe     // where the debug file was looked for
	missing  bool                  // a debug file belongs to it and was not found
	warnings []string
}

// open opens the files among the paths. A directory is one to look for debug
// files in; of two files with the same build id one is the other's companion.
func (c *cli) open(ctx context.Context) (*input, error) {
	dirs := c.DebugDir
	var files []*elfx.File
	for _, path := range c.Paths {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			if len(c.Paths) == 1 {
				return nil, fmt.Errorf("%s: is a directory; to dump all ELF files below it, give --store DIR and --recursive", path)
			}
			dirs = append(dirs, path)
			continue
		}
		f, err := c.openFile(path)
		if err != nil {
			closeAll(files)
			return nil, command.Missing("", path, err, "the path of an ELF program or library")
		}
		files = append(files, f)
	}
	return c.assemble(ctx, files, dirs)
}

// inputs are the files that the command line names to be read.
func (c *cli) inputs() []string {
	return append(slices.Clone(c.Paths), c.MappingFile)
}

// paths are the files that the module was read from.
func (in *input) paths() (paths []string) {
	for _, f := range append(in.others.Files(), in.img.Main, in.img.Debug) {
		if f != nil {
			paths = append(paths, cmp.Or(f.Archive(), f.Path()))
		}
	}
	return paths
}

// assemble makes one module of the files and what belongs to them. After an
// error the files are closed.
func (c *cli) assemble(ctx context.Context, files []*elfx.File, dirs []string) (*input, error) {
	in, err := join(files)
	if err != nil {
		closeAll(files)
		return nil, err
	}
	if !c.Header {
		in.complete(c.places(ctx, in, dirs))
	}
	for _, err := range in.losses() {
		in.warnings = append(in.warnings, err.Error())
	}
	return in, nil
}

// openFile opens an ELF file, or the member of the archive at path.
func (c *cli) openFile(path string) (*elfx.File, error) {
	if c.Member != "" {
		return archive.OpenMember(path, c.Member)
	}
	f, err := elfx.Open(path)
	if errors.Is(err, elfx.ErrNotELF) {
		names, damage := members(path)
		switch {
		case names != "":
			return nil, fmt.Errorf("%s: is an archive; choose with --member one of: %s", path, names)
		case damage != nil && !errors.Is(damage, archive.ErrNotArchive):
			return nil, damage
		}
	}
	return f, err
}

// members lists some of the ELF files in an archive; the error is the first.
func members(path string) (text string, first error) {
	var names []string
	for m, err := range archive.Members(path) {
		switch {
		case err == nil && len(names) < 20:
			names = append(names, m.Name)
		case first == nil:
			first = err
		}
	}
	return strings.Join(names, ", "), first
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
		// A debug file is no module of its own, whatever its build id: Join tells
		// why it is not the other's.
		if a.HoldsLoaded() != b.HoldsLoaded() || bytes.Equal(a.BuildID(), b.BuildID()) {
			img, err := elfx.Join(a, b)
			if err != nil {
				return nil, err
			}
			return &input{img: img}, nil
		}
	}
	return nil, fmt.Errorf("%s: is another module than %s: give --store DIR to dump several", files[1].Path(), files[0].Path())
}

// complete finds what belongs to the module.
func (in *input) complete(places companion.Places) {
	in.found = companion.Complete(in.img, places)
	in.img, in.others, in.probes = in.found.Image, in.found.Companions, in.found.DebugProbes
	in.reject(in.probes)

	switch main := in.img.Main; {
	case in.found.Mismatch != nil:
		in.missing = true
		in.warnings = append(in.warnings, in.found.Mismatch.Error())
	case in.found.MissingDebug != "":
		in.missing = true
		in.warnings = append(in.warnings, fmt.Sprintf(
			"%s: its debug file %s was not found: no functions, lines and inlined calls; give it, --debug-dir or --sysroot",
			main.Path(), in.found.MissingDebug))
	}
}

// maxRejected bounds the warnings of files that do not fit: a program may have
// thousands of .dwo files, all of another build.
const maxRejected = 10

// reject warns of files that are where a companion should be, but are not it.
func (in *input) reject(probes []companion.Probe) {
	n := 0
	for _, p := range probes {
		if !p.Rejected() {
			continue
		}
		if n++; n <= maxRejected {
			in.warnings = append(in.warnings, fmt.Sprintf("%s: not used as the %s: %v", p.Path, p.What, p.Err))
		}
	}
	if n > maxRejected {
		in.warnings = append(in.warnings, fmt.Sprintf("%d more files were not used; -v lists them", n-maxRejected))
	}
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
			command.Line(w, "dump_syms: %s: %s: found", p.What, p.Path)
		} else {
			command.Line(w, "dump_syms: %s: %s: %v", p.What, p.Path, p.Err)
		}
	}
}

// Close closes all files.
func (in *input) Close() {
	if in.found != nil {
		in.found.Close()
	}
	in.img.Close()
}

func closeAll(files []*elfx.File) {
	for _, f := range files {
		f.Close()
	}
}
