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

	"symkit/dump"
	"symkit/elfx"
	"symkit/elfx/archive"
	"symkit/elfx/archive/pkg"
	"symkit/elfx/companion"
	"symkit/internal/command"
	"symkit/internal/quantity"
	"symkit/limits"
)

// input is the module to dump: its files, and how they were found.
type input struct {
	img      *elfx.Image
	found    *companion.Module     // the files that belong to img; nil if they were not searched for
	others   *companion.Companions // the companions in found, or nil
	probes   []companion.Probe     // where the debug file was looked for
	missing  bool                  // the module has a separate debug file, which was not found, or no debug information
	noInfo   string                // the warning about a module without debug information, or ""
	warnings []string
}

// wantELF describes the file to give, for errors about a file of another kind.
const wantELF = "the path of an ELF program or library"

// open opens the files of the command line as one module. A directory among the
// paths is searched for debug files. Two files are one module if one of them is
// the other's debug file.
func (c *cli) open(ctx context.Context) (*input, error) {
	dirs := c.DebugDir
	var files []*elfx.File
	for _, path := range c.Paths {
		// elfx.Open explains whatever is wrong with a path, so that an error of Stat is not needed.
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
			if errors.Is(err, elfx.ErrNotELF) {
				err = command.OtherKind(err, wantELF)
			}
			return nil, command.Unreadable("", path, err, wantELF)
		}
		files = append(files, f)
	}
	return c.assemble(ctx, files, dirs)
}

// inputs returns the paths that the command line names for reading.
func (c *cli) inputs() []string {
	return append(slices.Clone(c.Paths), c.MappingFile)
}

// paths returns the paths of the files that the module was read from. For a member
// of an archive that is the archive's path.
func (in *input) paths() (paths []string) {
	for _, f := range append(in.others.Files(), in.img.Main, in.img.Debug) {
		if f != nil {
			paths = append(paths, cmp.Or(f.Archive(), f.Path()))
		}
	}
	return paths
}

// assemble makes one module of the files and their companions, which are looked
// for in dirs. It closes the files if it fails.
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

// openFile opens the ELF file at path or, with --member, a member of the archive
// at path. The error for an archive without --member lists its members.
func (c *cli) openFile(path string) (*elfx.File, error) {
	if c.Member != "" {
		if pkg.IsFile(path, limits.Limits{}) {
			return pkg.OpenMember(path, c.Member, limits.Limits{})
		}
		f, err := archive.OpenMember(path, c.Member)
		if errors.Is(err, archive.ErrNotArchive) {
			err = fmt.Errorf("%w; leave out --member, or give an archive", err)
		}
		return f, err
	}

	f, err := elfx.Open(path)
	if errors.Is(err, elfx.ErrNotELF) && pkg.IsFile(path, limits.Limits{}) {
		names, err := pkg.Names(path, maxNames, limits.Limits{})
		if err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%s: is a package; give --store DIR, or choose with --member one of: %s", path, strings.Join(names, ", "))
	}
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

// maxNames is how many members of an archive an error names.
const maxNames = 20

// members returns the names of the first maxNames ELF files in an archive and the first
// error of reading the archive.
func members(path string) (text string, first error) {
	var names []string
	for m, err := range archive.Members(path) {
		switch {
		case err == nil && len(names) < maxNames:
			names = append(names, m.Name)
		case first == nil:
			first = err
		}
	}
	return strings.Join(names, ", "), first
}

// join makes one module of the files. The error has the reason if they are not one module.
func join(files []*elfx.File) (*input, error) {
	switch len(files) {
	case 0:
		return nil, errors.New("no file among the arguments, only directories; give " + wantELF)
	case 1:
		return &input{img: &elfx.Image{Main: files[0]}}, nil
	case 2:
		a, b := files[0], files[1]

		// A debug file is not a module by itself, whatever its build id: the error of
		// Join says why it does not belong to the other file.
		if a.HoldsLoaded() != b.HoldsLoaded() || bytes.Equal(a.BuildID(), b.BuildID()) {
			img, err := elfx.Join(a, b)
			if err != nil {
				return nil, fmt.Errorf("%w; give the debug file of the same build", err)
			}
			return &input{img: img}, nil
		}
	}
	return nil, fmt.Errorf("%s: is another module than %s; give --store DIR to dump several", files[1].Path(), files[0].Path())
}

// complete searches places for the module's companions and warns of a debug file
// that is missing or belongs to another build.
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

// maxRejected bounds the warnings about files that do not belong to the module: a
// program may have thousands of .dwo files, all of another build.
const maxRejected = 10

// reject warns of files that have a companion's path but do not belong to the
// module.
func (in *input) reject(probes []companion.Probe) {
	n := 0
	for _, p := range probes {
		if !p.Rejected() {
			continue
		}
		n++
		if n <= maxRejected {
			in.warnings = append(in.warnings, fmt.Sprintf("%s: not used as the %s: %v", p.Path, p.What, p.Err))
		}
	}

	if n > maxRejected {
		in.warnings = append(in.warnings, quantity.Number(n-maxRejected)+" more files were not used; -v lists them")
	}
}

// stripped reports whether the module has code, but no debug information and so no FUNC
// records, and nothing else says so yet: what strip leaves of a program.
func (in *input) stripped(m *dump.Module) bool {
	info := in.img.DWARF().Section(".debug_info")
	return m.Stats.Funcs == 0 && !in.missing && len(in.img.Main.ExecRanges()) > 0 && (info == nil || !info.Present())
}

// searched says where the debug file of a module was looked for, and what to do.
func (in *input) searched() string {
	const most = 3
	var paths []string
	for _, p := range in.probes {
		if p.What == companion.DebugFile {
			paths = append(paths, p.Path)
		}
	}
	looked := "looked for " + strings.Join(paths[:min(len(paths), most)], ", ")
	switch n := len(paths) - most; {
	case len(paths) == 0 && len(in.img.BuildID()) == 0:
		looked = "without a build id no debug file can be looked for"
	case len(paths) == 0:
		looked = "no directory was searched for its debug file"
	case n > 0:
		looked += " and in " + quantity.Number(n) + " more places, which -v lists"
	}
	return looked + "; dump the file as it was before strip, or give its debug file, --debug-dir or --sysroot"
}

// losses returns the damage in the files that opening them worked around.
func (in *input) losses() []error {
	errs := in.img.Main.Losses()
	if in.img.Debug != nil {
		errs = append(errs, in.img.Debug.Losses()...)
	}
	return errs
}

// describe lists the places where companions were looked for, each with the result.
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

// Close closes all files of the module.
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
